import type { Command } from 'commander';
import type * as z from 'zod';
import type { Approval, ApprovalList } from '#contract/registry/approval-api.ts';
import { APPROVAL_ACTIONS, APPROVAL_STATUSES } from '#contract/values/approval-limits.ts';
import { TOUCHSTONE } from '#contract/values/names.ts';
import { PAGE_LIMITS } from '#contract/values/request-limits.ts';
import { boundsText, given, integer, JSON_OPTION, queryOf, UsageError } from './options.ts';
import { minute, table, wrap } from './output.ts';
import { postChecked } from './registry/registry.ts';
import { type RunInSession, sessionWith } from './session.ts';

const PATH = '/api/v1/approvals';
const pathOf = (id: string) => `${PATH}/${encodeURIComponent(id)}`;
const ofModel = (model: string) => `/api/v1/models/${encodeURIComponent(model)}/approvals`;

interface Printed {
  readonly json?: boolean;
}

/** Commands of requests for approval. */
export function addApprovalCommands(program: Command): void {
  const approvals = program
    .command('approvals')
    .description('request transitions of versions, and decide about requests (docs/approvals.md)');
  const session = sessionWith(program);
  addReading(approvals, session);
  addRequest(approvals, session);
  addDecision(approvals, session, {
    name: 'approve',
    description: 'approve a request: make its transition',
    reason: 'kept with the request',
  });
  addDecision(approvals, session, {
    name: 'decline',
    description: 'decline a request',
    reason: 'why; required',
  });
  addDecision(approvals, session, {
    name: 'withdraw',
    description: 'withdraw a request of yours; an admin any',
    reason: 'kept with the request',
  });
}

interface ListOptions extends Printed {
  readonly status?: string;
  readonly mine?: boolean;
  readonly limit: number;
  readonly cursor?: string;
}

function addReading(approvals: Command, session: RunInSession): void {
  approvals
    .command('list')
    .description('requests, newest first: of all models, or of one')
    .argument('[model]', 'name of the strategy')
    .option('--status <status>', `only ${APPROVAL_STATUSES.join(', ')}`)
    .option('--mine', 'only open ones that you may approve')
    .option('--limit <n>', boundsText(PAGE_LIMITS), integer(PAGE_LIMITS), PAGE_LIMITS.default)
    .option('--cursor <cursor>', '`next_cursor` of the page before, as --json prints it')
    .option(...JSON_OPTION)
    .action((model: string | undefined, { json, mine, ...page }: ListOptions) => {
      if (mine && model !== undefined)
        throw new UsageError('--mine lists requests of all models: leave out the model.');
      return session(async ({ client }) => {
        const query = queryOf(given({ ...page, waiting_for: mine ? 'me' : undefined }));
        const path = model === undefined ? PATH : ofModel(model);
        const list = await client.get<z.infer<typeof ApprovalList>>(`${path}?${query}`);
        console.log(json ? JSON.stringify(list) : listText(list));
      });
    });
  approvals
    .command('show')
    .description('a request, with its reasons')
    .argument('<request>', 'ap-<id>')
    .option(...JSON_OPTION)
    .action((id: string, { json }: Printed) =>
      session(async ({ client }) => print(await client.get<Approval>(pathOf(id)), json)),
    );
}

interface RequestOptions extends Printed {
  readonly reason: string;
  readonly due?: string;
  readonly expect?: string;
}

function addRequest(approvals: Command, session: RunInSession): void {
  approvals
    .command('request')
    .description('request a transition that another user approves')
    .argument('<action>', APPROVAL_ACTIONS.join(', '))
    .argument('<model>', 'name of the strategy')
    .argument('[version]', 'a number, or latest; not for stop')
    .requiredOption('--reason <text>', 'why it should happen')
    .option('--due <time>', 'when the request expires, ISO 8601 (default: in 7 days)')
    .option(
      '--expect <version>',
      'version that must be in Production (default: the one now); none: no version',
    )
    .option(...JSON_OPTION)
    .action((action: string, model: string, version: string | undefined, options: RequestOptions) =>
      session(async ({ client }) => {
        const { reason, due, expect, json } = options;
        const expected_production = expect === 'none' ? null : expect;
        const body = given({ action, version, reason, due_at: due, expected_production });
        print(await client.post<Approval>(ofModel(model), body), json);
      }),
    );
}

/** A command that decides about a request. */
function addDecision(
  approvals: Command,
  session: RunInSession,
  { name, description, reason }: Readonly<Record<'name' | 'description' | 'reason', string>>,
): void {
  approvals
    .command(name)
    .description(description)
    .argument('<request>', 'ap-<id>')
    .option('--reason <text>', reason)
    .option(...JSON_OPTION)
    .action((id: string, options: Printed & { readonly reason?: string }) =>
      session(async ({ client }) => {
        const body = given({ reason: options.reason });
        print(await postChecked<Approval>(client, `${pathOf(id)}/${name}`, body), options.json);
      }),
    );
}

function print(approval: Approval, json: boolean | undefined): void {
  console.log(json ? JSON.stringify(approval) : approvalText(approval));
}

function listText({ items, next_cursor }: z.infer<typeof ApprovalList>): string {
  const more = next_cursor === null ? '' : '\nMore follow: raise --limit, or pass --cursor.';
  if (items.length === 0) return `No requests.${more}`;
  const rows = items.map((each) => [
    each.approval_id,
    each.model_name,
    subjectOf(each),
    each.status,
    each.requested_by,
    minute(each.status === 'requested' ? each.due_at : (each.decided_at ?? each.due_at)),
    wrap(each.reason, 40),
  ]);
  return `${table(['Request', 'Model', 'Action', 'Status', 'By', 'Due or ended (UTC)', 'Reason'], rows)}${more}`;
}

function subjectOf({ action, version }: Approval): string {
  return version === null ? action : `${action} ${version}`;
}

function approvalText(approval: Approval): string {
  const { approval_id, model_name, status, reason, requested_by, requested_at, due_at } = approval;
  const { decided_by, decided_at, decision_reason, expected_production } = approval;
  const ended = decided_by === null ? '' : ` by ${decided_by} at ${minute(decided_at)} UTC`;
  return [
    `${approval_id}: ${subjectOf(approval)} of ${model_name}, ${status}${ended}`,
    `Requested by ${requested_by} at ${minute(requested_at)} UTC: ${reason}`,
    ...(decision_reason === null ? [] : [`Reason of the decision: ${decision_reason}`]),
    `In Production at the request: ${expected_production ?? 'no version'}`,
    ...(status === 'requested'
      ? [
          `Due ${minute(due_at)} UTC`,
          `Next: another user decides: ${TOUCHSTONE} approvals approve ${approval_id}`,
        ]
      : []),
  ].join('\n');
}
