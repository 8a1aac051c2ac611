import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { webhookSignatures } from '#adapters/webhooks/signatures.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/webhooks.md'), 'utf8');
const folder = mkdtempSync(join(tmpdir(), 'touchstone-verify-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The example of the page in a language. */
const example = (language: string) =>
  new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(PAGE)![1]!;

const secret = webhookSignatures.newSecret();
const body = JSON.stringify({ type: 'webhook.test', subject: 'webhooks/wh-1', note: 'ä' });
/** Headers of a request during a rotation, sent some seconds ago. */
function headersOf(secondsAgo = 0) {
  const timestamp = Math.floor(Date.now() / 1_000) - secondsAgo;
  const signed = [webhookSignatures.newSecret(), secret].map((each) =>
    webhookSignatures.sign(each, 'msg_1', timestamp, body),
  );
  return {
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signed.join(' '),
  };
}
/** Requests, and whether the examples accept them. */
const REQUESTS = [
  { headers: headersOf(), body, accepted: true },
  { headers: headersOf(), body: `${body} `, accepted: false },
  { headers: headersOf(400), body, accepted: false },
  { headers: { ...headersOf(), 'webhook-id': 'msg_2' }, body, accepted: false },
  { headers: { ...headersOf(), 'webhook-signature': 'v1,AAAA' }, body, accepted: false },
];
const EXPECTED = REQUESTS.map(({ accepted }) => accepted);

it('example in Node verifies signed requests only', async () => {
  const file = join(folder, 'verify.ts');
  writeFileSync(file, example('ts'));
  const { verify } = await import(file);
  const results = REQUESTS.map((request) => {
    try {
      return verify(secret, request.headers, request.body).type === 'webhook.test';
    } catch {
      return false;
    }
  });
  expect(results).toEqual(EXPECTED);
});

it('example in Python verifies signed requests only', ({ skip }) => {
  const python = process.env.PYTHON ?? 'python3';
  if (spawnSync(python, ['--version']).error) {
    console.warn(`Skipped: the example in Python. ${python} cannot be started`);
    return skip(`${python} cannot be started`);
  }
  const file = join(folder, 'verify.py');
  writeFileSync(
    file,
    `${example('python')}
import sys
secret, requests = json.load(sys.stdin)
results = []
for request in requests:
    try:
        results.append(verify(secret, request["headers"], request["body"])["type"] == "webhook.test")
    except ValueError:
        results.append(False)
print(json.dumps(results))
`,
  );
  const { stdout, stderr } = spawnSync(python, [file], {
    input: JSON.stringify([secret, REQUESTS]),
    encoding: 'utf8',
  });
  expect(JSON.parse(stdout || JSON.stringify(stderr))).toEqual(EXPECTED);
});
