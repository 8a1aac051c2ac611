import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { OPERATIONS } from '#contract/operations/operations.ts';
import type { AuditEntry } from '#contract/platform/audit.ts';
import { changesState, type Operation, type ServiceName } from '#contract/values/operation.ts';
import { accessClaims, openIssuerKey, signToken } from '../../src/local/issuer-key.ts';
import { startTestPlatform, type TestPlatform } from '../support/platform.ts';

/** Audit trail of a platform with tokens: every state-changing operation of every service. */

const home = mkdtempSync(join(tmpdir(), 'touchstone-audit-'));
let platform: TestPlatform;
beforeAll(async () => {
  // Jobs stay pending: only their submission is tested.
  platform = await startTestPlatform({ home, auth: true, concurrency: 0 });
}, 30_000);
afterAll(async () => {
  await platform?.stop();
  rmSync(home, { recursive: true, force: true });
});

type Role = Exclude<Operation['access'], 'public'>;
const ROLES: readonly Role[] = ['viewer', 'researcher', 'approver', 'admin'];

const tokenOf = (user: string, role: Role) =>
  signToken(openIssuerKey(home), accessClaims({ user, role, lifetime: 600, now: Date.now() }));

async function call(operation: Operation, user: string, role: Role, correlationId: string): Promise<number> {
  const { info } = platform;
  const addresses: Record<ServiceName, string> = {
    backend: info.backend_url,
    strategy: info.strategy_service_url,
    data_collection: info.data_collection_url,
  };
  const path = Object.entries(operation.params?.shape ?? {}).reduce(
    (path, [name, schema]) => path.replace(`{${name}}`, String(sample(schema as z.ZodType))),
    operation.path,
  );
  const response = await fetch(addresses[operation.service] + path, {
    method: operation.method,
    headers: {
      connection: 'close',
      authorization: `Bearer ${tokenOf(user, role)}`,
      'content-type': 'application/json',
      'X-Correlation-ID': correlationId,
    },
    ...(operation.body && { body: JSON.stringify(sample(operation.body)) }),
  });
  await response.body?.cancel();
  return response.status;
}

/** Value that matches a schema: its first example, else its required fields. */
function sample(schema: z.ZodType): unknown {
  const root = z.toJSONSchema(schema, { io: 'input' }) as Node;
  const value = (node: Node): unknown => {
    if (node.$ref) return value(root.$defs![node.$ref.split('/').at(-1)!]!);
    const [known] = [node.examples?.[0], node.const, node.enum?.[0]].filter((each) => each !== undefined);
    if (known !== undefined) return known;
    if (node.anyOf) return value(node.anyOf[0]!);
    if (node.type === 'array') return node.items ? [value(node.items)] : [];
    if (node.type === 'object') {
      return Object.fromEntries((node.required ?? []).map((key) => [key, value(node.properties![key]!)]));
    }
    if (node.type === 'boolean') return false;
    if (node.type === 'string') {
      const [, kind] = /^\^([a-z]+-)/.exec(node.pattern ?? '') ?? [];
      return kind ? `${kind}01ARZ3NDEKTSV4RRFFQ69G5FAV` : 'x1';
    }
    return node.minimum ?? 1;
  };
  return value(root);
}

interface Node {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Node>>;
  readonly type?: string;
  readonly examples?: readonly unknown[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Node[];
  readonly items?: Node;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Node>>;
  readonly pattern?: string;
  readonly minimum?: number;
}

async function audit(query: string): Promise<AuditEntry[]> {
  const headers = { authorization: `Bearer ${tokenOf('auditor', 'admin')}` };
  const response = await platform.request(`/api/v1/audit?${query}`, { headers });
  expect(response.status).toBe(200);
  return ((await response.json()) as { items: AuditEntry[] }).items;
}

describe.each(
  (OPERATIONS as readonly Operation[])
    .filter(changesState)
    .map((operation) => [operation.id, operation] as const),
)('audit of %s', (id, operation) => {
  it('audit trail records every call by any caller and with any outcome', async () => {
    const access = operation.access as Role;
    const allowed = await call(operation, 'ada', access, `${id}-ada`);
    const [entry, ...more] = await audit(`operation=${id}&principal=ada`);
    expect(more).toEqual([]);
    expect(entry).toMatchObject({
      principal: 'ada',
      roles: [access],
      service: operation.service,
      method: operation.method,
      status: allowed,
      outcome: allowed < 400 ? 'succeeded' : 'refused',
      correlation_id: `${id}-ada`,
      source_ip: '127.0.0.1',
    });
    expect(entry!.resource.kind).toMatch(/^[a-z]+$/);
    if (allowed === 201) expect(entry!.resource.id).toBeTruthy();
    // A body that does not match its schema is rejected earlier.
    expect(entry!.request !== null && 'body' in entry!.request).toBe(operation.body !== undefined);

    const below = ROLES[ROLES.indexOf(access) - 1];
    if (!below) return;
    expect(await call(operation, 'eve', below, `${id}-eve`)).toBe(403);
    expect(await audit(`operation=${id}&principal=eve`)).toMatchObject([
      { outcome: 'refused', status: 403, code: 'AUTH004', correlation_id: `${id}-eve`, request: null },
    ]);
  });
});

it('data proxy call is not recorded in the audit trail', async () => {
  const response = await platform.request('/api/v1/data-proxy', {
    method: 'POST',
    headers: { authorization: `Bearer ${tokenOf('ada', 'viewer')}`, 'content-type': 'application/json' },
    body: JSON.stringify({ operation: 'symbols' }),
  });
  expect(response.status).toBe(200);
  expect(await audit('operation=callDataProxy')).toEqual([]);
});
