import type { Command } from 'commander';
import type * as z from 'zod';
import type { Grant, Sharing } from '#contract/common/sharing-schemas.ts';
import type { AuditEntry, AuditEntryList } from '#contract/platform/audit.ts';
import { BACKTEST_ID_PREFIX, HYPEROPT_ID_PREFIX } from '#contract/values/job-limits.ts';
import { CLI_LIMITS, PAGE_LIMITS } from '#contract/values/request-limits.ts';
import { EVERYONE } from '#contract/values/sharing.ts';
import { SIGNALS_ID_PREFIX } from '#contract/values/signals-limits.ts';
import { WEBHOOK_ID_PREFIX } from '#contract/values/webhook-limits.ts';
import { type ApiClient, ApiError } from './client.ts';
import type { EraseOptions } from './erase.ts';
import { boundsText, integer, JSON_OPTION, queryOf, UsageError } from './options.ts';
import { second, table } from './output.ts';
import { sessionWith } from './session.ts';

const { audit_entries: AUDIT_ENTRIES } = CLI_LIMITS;
const SHARE_ATTEMPTS = 5;

/** Long because it is the table of the commands. */
export function addAccessCommands(program: Command): void {
  program
    .command('share')
    .description('show the owner and grants of a job or model; grant or revoke access (docs/access.md)')
    .argument('<resource>', 'bt-<id>, ho-<id> or the name of a model')
    .option('--with <who>', 'grant access to a user, group:<name> or everyone; repeatable', principal, [])
    .option('--write', 'grant changes too, within the roles of the grantee')
    .option('--revoke <who>', 'revoke access of a user, group:<name> or everyone; repeatable', principal, [])
    .option('--revoke-all', 'revoke every grant')
    .option(...JSON_OPTION)
    .action((resource: string, options: ShareOptions) => {
      checkShareOptions(options);
      const session = sessionWith(program, resource.startsWith(HYPEROPT_ID_PREFIX) ? 'strategy' : 'backend');
      return session(({ client }) => shareResource(client, resource, options));
    });

  program
    .command('transfer')
    .description('make another user the owner of a model, job, file of signals or webhook; needs role admin')
    .argument(
      '<resource>',
      'bt-<id>, ho-<id>, sg-<id>, wh-<id> or the name of a model, whose challenges go with it',
    )
    .requiredOption('--to <user>', "the new owner: `sub` of the user's tokens")
    .option(...JSON_OPTION)
    .action((resource: string, { to, json }: { readonly to: string; readonly json?: boolean }) =>
      sessionWith(program)(async ({ client }) => {
        const request = { resource: pathOf(resource), owner: to };
        const now = await client.post<Sharing>('/api/v1/ownership', request);
        if (json) console.log(JSON.stringify(now));
        else printSharing(resource, now);
      }),
    );

  program
    .command('keep')
    .description('keep a job beyond the retention of the platform, or let it expire again (docs/data.md)')
    .argument('<job>', 'bt-<id> or ho-<id>')
    .option('--undo', 'let it expire again')
    .option(...JSON_OPTION)
    .action((job: string, { undo = false, json }: KeepOptions) => {
      const session = sessionWith(program, job.startsWith(HYPEROPT_ID_PREFIX) ? 'strategy' : 'backend');
      return session(({ client }) => keepJob(client, job, !undo, json));
    });

  program
    .command('audit')
    .description('list calls that could change something, newest first; needs role admin (docs/audit.md)')
    .option('--day <day>', 'a UTC day, such as 2026-11-21')
    .option('--from <time>', 'ISO 8601 or 20250131T0630 (default: seven days before --to)')
    .option('--to <time>', 'ISO 8601, exclusive (default: now)')
    .option('--user <id>', 'only calls by this user')
    .option('--operation <id>', 'only this operation, such as promoteVersion')
    .option('--resource <id>', 'only this resource: bt-<id>, ho-<id> or the name of a model')
    .option('--outcome <outcome>', 'succeeded, refused, failed or unknown')
    .option('--limit <n>', boundsText(AUDIT_ENTRIES), integer(AUDIT_ENTRIES), AUDIT_ENTRIES.default)
    .option(...JSON_OPTION)
    .action((options: AuditOptions) => sessionWith(program)(({ client }) => printAudit(client, options)));

  program
    .command('erase-user')
    .description('erase the data of a user (docs/data.md); works on the tables, not through the API')
    .argument('<subject>', "`sub` of the user's tokens")
    .option('--dry-run', 'print what would be erased')
    .option('--jobs <table>', 'a deployed stage: its table of jobs')
    .option('--registry <table>', 'its registry table')
    .option('--results <bucket>', 'its bucket of results')
    .option(...JSON_OPTION)
    .action(async (subject: string, options: EraseOptions) => {
      // Loaded only here: it takes the AWS SDK with it.
      const { runErasure } = await import('./erase.ts');
      await runErasure(subject, options);
    });
}

interface KeepOptions {
  readonly undo?: boolean;
  readonly json?: boolean;
}

interface ShareOptions {
  readonly json?: boolean;
  readonly with: readonly string[];
  readonly write?: boolean;
  readonly revoke: readonly string[];
  readonly revokeAll?: boolean;
}

/** Adds one principal; a bare name is a user's. */
function principal(text: string, previous: readonly string[]): string[] {
  const named = text === EVERYONE || /^(user|group):/.test(text);
  return [...previous, named ? text : `user:${text}`];
}

function checkShareOptions(options: ShareOptions): void {
  if (options.revokeAll && options.with.length > 0) {
    throw new UsageError('--revoke-all revokes every grant. Leave out --with, or grant access afterwards.');
  }
  if (options.write && options.with.length === 0) throw new UsageError('--write needs --with <who>.');
}

/** Grants or revokes access to a job or a model and prints the grants; without options it only prints them. */
async function shareResource(client: ApiClient, resource: string, options: ShareOptions): Promise<void> {
  const path = sharingPath(resource);
  const changes = options.revokeAll || options.with.length > 0 || options.revoke.length > 0;
  const now = await (changes ? changeGrants(client, path, options) : client.get<Sharing>(path));
  if (options.json) console.log(JSON.stringify(now));
  else printSharing(resource, now);
}

/** Applies the change to the grants of now, also when another command changes them at the same time. */
async function changeGrants(client: ApiClient, path: string, options: ShareOptions): Promise<Sharing> {
  for (let attempt = 1; ; attempt++) {
    const { shared_with: before } = await client.get<Sharing>(path);
    try {
      const shared_with = changedGrants(before, options);
      return await client.put<Sharing>(path, { shared_with, expected_shared_with: before });
    } catch (error) {
      const isOutdated = error instanceof ApiError && Array.isArray(error.context.shared_with);
      if (!isOutdated || attempt === SHARE_ATTEMPTS) throw error;
    }
  }
}

async function keepJob(client: ApiClient, job: string, keep: boolean, json = false): Promise<void> {
  const family = job.startsWith(HYPEROPT_ID_PREFIX) ? 'hyperopt' : 'backtests';
  const path = `/api/v1/${family}/${encodeURIComponent(job)}/keep`;
  const reply = await client.post<{ kept: boolean; expires_at: string | null }>(path, { keep });
  if (json) return console.log(JSON.stringify(reply));
  const { kept, expires_at } = reply;
  const expiry = expires_at === null ? 'does not expire' : `expires ${second(expires_at)} UTC or later`;
  console.log(`${job}: ${kept ? 'kept' : expiry}`);
}

function sharingPath(resource: string): string {
  return `/api/v1/${collectionOf(resource)}/${encodeURIComponent(resource)}/sharing`;
}

/** Path of a resource in the API, such as `models/ema_crossover`. */
function pathOf(resource: string): string {
  return `${collectionOf(resource)}/${resource}`;
}

function collectionOf(resource: string): string {
  if (resource.startsWith(BACKTEST_ID_PREFIX)) return 'backtests';
  if (resource.startsWith(HYPEROPT_ID_PREFIX)) return 'hyperopt';
  if (resource.startsWith(SIGNALS_ID_PREFIX)) return 'signals';
  return resource.startsWith(WEBHOOK_ID_PREFIX) ? 'webhooks' : 'models';
}

/** Earlier grants stay, unless revoked or granted again at another level. */
function changedGrants(before: readonly Grant[], options: ShareOptions): Grant[] {
  if (options.revokeAll) return [];
  const granted = [...new Set(options.with)];
  const level = options.write ? 'write' : 'read';
  return [
    ...before.filter((grant) => ![...granted, ...options.revoke].includes(grant.principal)),
    ...granted.map((each) => ({ principal: each, level }) as const),
  ];
}

function printSharing(resource: string, { owner, shared_with }: Sharing): void {
  console.log(`${resource}: owner ${owner}, ${shared_with.length > 0 ? 'shared with:' : 'not shared'}`);
  if (shared_with.length === 0) return;
  const may = { read: 'read', write: 'read and change' };
  console.log(
    table(
      ['Principal', 'May'],
      shared_with.map(({ principal, level }) => [principal, may[level]]),
    ),
  );
}

interface AuditOptions {
  readonly json?: boolean;
  readonly day?: string;
  readonly from?: string;
  readonly to?: string;
  readonly user?: string;
  readonly operation?: string;
  readonly resource?: string;
  readonly outcome?: string;
  readonly limit: number;
}

async function printAudit(client: ApiClient, { user, limit, json, ...filters }: AuditOptions): Promise<void> {
  const entries: AuditEntry[] = [];
  let cursor: string | null = null;
  do {
    const query: string = queryOf({
      ...filters,
      principal: user,
      limit: Math.min(limit - entries.length, PAGE_LIMITS.max),
      cursor: cursor ?? undefined,
    });
    const page: z.infer<typeof AuditEntryList> = await client.get(`/api/v1/audit?${query}`);
    entries.push(...page.items);
    cursor = page.next_cursor;
  } while (cursor && entries.length < limit);
  if (json) return console.log(JSON.stringify({ items: entries, next_cursor: cursor }));
  console.log(entries.length > 0 ? auditTable(entries) : 'No calls match.');
  if (cursor) console.log('More exist: raise --limit, or filter by time, --user, --operation or --resource.');
}

/** Resource of a call, and the version of the model that it is about. */
function resourceText({ resource: { kind, id }, model_name, version }: AuditEntry): string {
  const model = model_name === null || model_name === id ? '' : ` of ${model_name}`;
  return `${kind} ${id ?? '-'}${model}${version === null || kind === 'versions' ? '' : ` v${version}`}`;
}

function auditTable(entries: readonly AuditEntry[]): string {
  return table(
    ['Time (UTC)', 'User', 'Role', 'Operation', 'Resource', 'Outcome', 'Address', 'Correlation ID'],
    entries.map((entry) => [
      second(entry.at),
      entry.principal,
      entry.roles.at(-1) ?? '-',
      entry.operation,
      resourceText(entry),
      [entry.outcome, entry.code].filter(Boolean).join(' '),
      entry.source_ip,
      entry.correlation_id,
    ]),
  );
}
