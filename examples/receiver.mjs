// Receives attempts of a kind of type http, with nothing but Node's own modules.
//
//     WEBHOOK_SECRET=whsec_... node examples/receiver.mjs 8000
//
// The kind has `url: http://127.0.0.1:8000/` and `signing: [env:WEBHOOK_SECRET]`. Signatures follow
// the Standard Webhooks scheme: HMAC-SHA256 over ID.TIMESTAMP.BODY.
//
// 2xx means done. A task may arrive twice, so remember its id (the header webhook-id) with your
// change.
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const OLDEST_SECONDS = 300;
const BODY_BYTES_MAX = 1024 * 1024;
const secret = process.env.WEBHOOK_SECRET ?? "";
// whsec_ and base 64, or the secret's own bytes.
const key = secret.startsWith("whsec_") ? Buffer.from(secret.slice(6), "base64") : Buffer.from(secret);

function isGenuine(headers, body) {
  const sent = headers["webhook-timestamp"] ?? "";
  if (!/^\d+$/.test(sent) || Math.abs(Date.now() / 1000 - Number(sent)) > OLDEST_SECONDS) return false;
  const signed = createHmac("sha256", key).update(`${headers["webhook-id"]}.${sent}.`).update(body);
  const expected = signed.digest();
  // One for each key, so that a secret can be replaced.
  return (headers["webhook-signature"] ?? "").split(" ").some((entry) => {
    const given = Buffer.from(entry.replace(/^v1,/, ""), "base64");
    return entry.startsWith("v1,") && given.length === expected.length && timingSafeEqual(given, expected);
  });
}

async function bodyOf(request) {
  const pieces = [];
  let size = 0;
  for await (const piece of request) {
    size += piece.length;
    if (size > BODY_BYTES_MAX) throw new Error("too large");
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

// Your part. Numbers beyond 2^53 need a parser that keeps them; the bytes are as they were submitted.
function work(headers, body) {
  let payload;
  try {
    payload = JSON.parse(body);
  } catch {
    // It will not get better: no retries, straight to a person.
    return [422, "the payload is not JSON", { "Recourse-Outcome": "dead" }];
  }
  const attempt = Number(headers["recourse-attempt"]);
  if ((payload.fail_until_attempt ?? 1) > attempt) return [503, "not yet", { "Retry-After": "1" }];
  console.log(`${headers["recourse-task"]} attempt ${attempt}: ${JSON.stringify(payload)}`);
  return [200, "done", {}];
}

if (key.length === 0) {
  console.error("set WEBHOOK_SECRET to the secret that the kind signs with");
  process.exit(2);
}

const server = createServer(async (request, response) => {
  let answer;
  try {
    const body = await bodyOf(request);
    answer = isGenuine(request.headers, body) ? work(request.headers, body) : [401, "the signature is wrong", {}];
  } catch (error) {
    answer = [400, String(error), {}];
  }
  const [status, text, headers] = answer;
  response.writeHead(status, headers).end(text);
});
server.listen(Number(process.argv[2] ?? 8000), "127.0.0.1", () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}/`);
});
