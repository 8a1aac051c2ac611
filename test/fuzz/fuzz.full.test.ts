import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { pythonWith } from '../support/python.ts';
import { wholeDocument } from './document.ts';
import {
  type FuzzResult,
  fuzzPlatform,
  neverSucceeded,
  REQUIREMENTS,
  requestsOf,
  schemathesis,
} from './fuzz.ts';
import { SECRET } from './prepare.ts';

/** A small part of `npm run fuzz` with a fixed seed, and proof that its checks can fail. */

const SEED = 20_260_101;
const SMALL = { seed: SEED, examples: 4, phases: 'examples,fuzzing' };
/** Work that a busy machine does before the requests takes minutes. */
const TIMEOUT_MS = 20 * 60_000;

const found = await pythonWith(REQUIREMENTS);
if ('missing' in found) console.warn(`Skipped: fuzzing needs Python. ${found.missing}.`);
const bin = 'missing' in found ? '' : found.bin;

it.skipIf(bin === '').each([
  ['optional', false],
  ['required', true],
] as const)('no response breaks the documents, tokens %s', { timeout: TIMEOUT_MS }, async (_, auth) => {
  const result = await fuzzPlatform(bin, auth, SMALL);
  expect(result.passed, result.report).toBe(true);
  expect(requestsOf(result)).toBeGreaterThan(300);
  // Requests must reach the operations, not only their validation. Where tokens are required, some callers must be refused. Series can be
  // changed once: the first deletion leaves nothing for the other operations on them. Requests for approval are decided with tokens only.
  const operations = Object.keys(result.counts).length;
  expect(operations).toBeGreaterThan(100);
  expect(neverSucceeded(result).length).toBeLessThan(operations * (auth ? 0.5 : 0.35));
});

/** Each path breaks one rule. The text is what the report must say of it. */
const FAULTS: Readonly<Record<string, string>> = {
  'GET /status': 'Undocumented status code',
  'GET /extra': 'Additional properties are not allowed',
  'GET /missing': '"count" is a required property',
  'GET /type': 'is not of type "integer"',
  'GET /html': 'Undocumented Content-Type',
  'GET /error': 'Server error',
  'GET /code': 'the code RES001 is not documented for status 400',
  'GET /stack': 'the body exposes internals',
  'GET /exception': "exposes internals: ['TypeError']",
  'GET /correlation': 'X-Correlation-ID is missing',
  'GET /unavailable': '503 without Retry-After',
  'GET /token': '401 with a token that holds',
  'GET /open': '401 was due, not 200',
  'GET /role': '403 was due, not 200',
  'GET /secret': 'a private resource of another user',
  'GET /log': 'the platform logged an error',
  'POST /fits': 'the body fits its schema, and is rejected',
};

const answer = (schema: object, more: object = {}) => ({
  description: 'x',
  content: { 'application/json': { schema, ...more } },
});
const COUNT = {
  type: 'object',
  properties: { count: { type: 'integer' }, name: { type: 'string' } },
  required: ['count'],
};
const ANY = answer({ type: 'object', properties: { detail: {} } });

function documentOfFaults(): object {
  const paths = ['GET /sound', ...Object.keys(FAULTS)].map((fault) => {
    const [method, path] = fault.toLowerCase().split(' ') as [string, string];
    const operation = {
      operationId: path.slice(1),
      responses: {
        200: answer({ $ref: '#/components/schemas/Count' }),
        400: answer({ type: 'object', properties: { detail: {} } }, { 'x-codes': ['VAL005'] }),
        401: ANY,
        403: ANY,
        503: ANY,
      },
      // A query, so that several calls differ: whom the service must refuse is chosen anew for each.
      ...(/token|open|role|secret/.test(path) && {
        parameters: [{ name: 'q', in: 'query', schema: { type: 'string' } }],
        security: [{ bearer: path === '/role' ? ['approver'] : [] }, {}],
      }),
      ...(method === 'post' && {
        requestBody: { required: true, content: { 'application/json': { schema: { type: 'object' } } } },
      }),
    };
    return [path, { [method]: operation }];
  });
  return {
    openapi: '3.1.0',
    info: { title: 'Faults', version: '1' },
    paths: Object.fromEntries(paths),
    components: {
      schemas: { Count: COUNT },
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
    },
  };
}

it.skipIf(bin === '')(
  'reports each kind of fault, and nothing of a sound service',
  { timeout: TIMEOUT_MS },
  async () => {
    const home = mkdtempSync(join(tmpdir(), 'touchstone-faults-'));
    const log = join(home, 'log');
    writeFileSync(log, '');
    const coded = (code: string) => ({ detail: { code, message: 'm' } });
    const server = createServer({ maxHeaderSize: 65_536 }, (request, response) => {
      const path = request.url!.split('?')[0]!.slice(1);
      const refused = !/-/.test(request.headers.authorization ?? '');
      const send = (status: number, body: unknown, headers: object = {}) => {
        const id = request.headers['x-correlation-id'] ?? 'c-1';
        const all = { 'content-type': 'application/json', 'x-correlation-id': id, ...headers };
        response.writeHead(status, all as Record<string, string>).end(JSON.stringify(body));
      };
      if (path === 'log') appendFileSync(log, '{"level":"ERROR","message":"seeded"}\n');
      const answers: Readonly<Record<string, () => void>> = {
        'openapi.json': () => send(200, documentOfFaults()),
        'api/v1/health': () => send(200, { status: 'degraded' }),
        status: () => send(206, { count: 1 }),
        extra: () => send(200, { count: 1, extra: 1 }),
        missing: () => send(200, { name: 'x' }),
        type: () => send(200, { count: '1' }),
        html: () => send(200, { count: 1 }, { 'content-type': 'text/html' }),
        error: () => send(500, coded('SVC001')),
        code: () => send(400, coded('RES001')),
        stack: () => send(200, { count: 1, name: 'x\n    at f (/a.js:1:2)' }),
        exception: () => send(200, { count: 1, name: 'TypeError: x is not' }),
        correlation: () => response.writeHead(200, { 'content-type': 'application/json' }).end('{"count":1}'),
        unavailable: () => send(503, coded('DATA004')),
        token: () => send(401, coded('AUTH003'), { 'www-authenticate': 'Bearer' }),
        role: () =>
          refused ? send(401, coded('AUTH003'), { 'www-authenticate': 'Bearer' }) : send(200, { count: 1 }),
        secret: () => send(200, { count: 1, name: SECRET }),
        fits: () => send(400, { detail: [{ type: 'missing', loc: ['body', 'x'], msg: 'm', input: null }] }),
      };
      (answers[path] ?? (() => send(200, { count: 1 })))();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const bases = [`http://127.0.0.1:${(server.address() as AddressInfo).port}`];
    const roles = ['guest', 'viewer', 'researcher', 'approver', 'admin'];
    const of = (user: string) => Object.fromEntries(roles.map((role) => [role, `${user}-${role}`]));
    const tokens = { users: { ann: of('ann'), bob: of('bob') }, bad: ['Bearer wrong'] };
    let result: FuzzResult;
    try {
      const target = { home, log, pid: process.pid, bases, tokens };
      const prepared = { known: {}, secret: 'bt-1' };
      const options = { seed: SEED, examples: 25, phases: 'fuzzing' };
      result = await schemathesis(bin, target, await wholeDocument(bases), prepared, options);
    } finally {
      server.close();
      server.closeAllConnections();
      rmSync(home, { recursive: true });
    }
    const sections = result.report.split(/^_{3,} (\w+ \/\w+) _{3,}$/m);
    const reported = new Map(sections.map((name, index) => [name, sections[index + 1] ?? '']));
    for (const [fault, text] of Object.entries(FAULTS)) expect(reported.get(fault), fault).toContain(text);
    expect(reported.has('GET /sound')).toBe(false);
    expect(result.report).toContain('is degraded');
    expect(result.passed).toBe(false);
  },
);
