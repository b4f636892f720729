// Verifies one webhook with the reference implementation of the scheme, which is not ours.
//   node verify_webhook.mjs FOLDER SECRET < {"headers": {...}, "body": "..."}
// FOLDER has the node_modules. Prints the payload, or fails.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";

const [folder, secret] = process.argv.slice(2);
const { Webhook } = createRequire(resolve(folder, "package.json"))("standardwebhooks");
const { headers, body } = JSON.parse(readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(new Webhook(secret).verify(body, headers)));
