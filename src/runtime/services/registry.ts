import { PromoteRequest, RegisterRequest, RollbackRequest, StageRequest } from '#contract/registry-api.ts';
import { WaiveRequest } from '#contract/release-policy.ts';
import type { MoveReply, RegistryCall } from '#domain/registry/make-move.ts';
import type { RegisterVersion } from '#domain/registry/register-version.ts';
import { unknownKeyWarnings } from '#domain/unknown-keys.ts';
import { callerOf } from '../authenticate.ts';
import type { HandlerRequest, Handlers } from '../handler.ts';
import type { RegistryUseCases } from './registry-use-cases.ts';

type RegistryOperation =
  | 'stageVersion'
  | 'promoteVersion'
  | 'rollbackModel'
  | 'listVersions'
  | 'getVersion'
  | 'getHistory'
  | 'getProduction';

/** The backend's part of the registry: moves and reads of one model. */
export function registryHandlers(useCases: RegistryUseCases): Pick<Handlers<'backend'>, RegistryOperation> {
  return {
    stageVersion: async ({ params, body, ...request }) => {
      const { comment, validate_only, skip_validation, waive } = body;
      const input = { model: params.name, version: versionOf(body, 'model_version'), comment };
      const moved = await useCases.stageVersion(registryCallOf(request), {
        ...input,
        validate_only,
        skip_validation,
        waive,
      });
      return reply(200, moved, [...ignoredKeys(body, StageRequest), ...ignoredOfWaiver(waive)]);
    },
    promoteVersion: async ({ params, body, ...request }) => {
      const { comment, challenge_id, force, waive } = body;
      const input = { model: params.name, version: versionOf(body, 'model_version'), comment };
      const expected = { expected_production: expectedProduction(body.expected_production) };
      const options = { ...expected, challenge_id, force, waive };
      const moved = await useCases.promoteVersion(registryCallOf(request), { ...input, ...options });
      return reply(200, moved, [...ignoredKeys(body, PromoteRequest), ...ignoredOfWaiver(waive)]);
    },
    rollbackModel: async ({ params, body, ...request }) => {
      const input = { model: params.model_name, version: versionOf(body, 'target_version') };
      const expected = { expected_production: expectedProduction(body.expected_production) };
      const options = { ...expected, reason: body.reason };
      const moved = await useCases.rollBack(registryCallOf(request), { ...input, ...options });
      return reply(200, moved, ignoredKeys(body, RollbackRequest));
    },
    listVersions: async ({ params: { model_name }, query }) => {
      const input = { model: model_name, includeArchived: query.include_archived };
      const versions = await useCases.listVersions(input);
      return { status: 200, body: { model_name, versions, count: versions.length } };
    },
    getVersion: async ({ params: { model_name, version } }) => ({
      status: 200,
      body: await useCases.getVersion({ model: model_name, version }),
    }),
    getHistory: async ({ params, query: { limit, cursor = null } }) => {
      const page = await useCases.readHistory({ model: params.model_name, limit, cursor });
      const items = page.items.map(({ schema_version: _, model_name: __, ...event }) => event);
      return { status: 200, body: { items, next_cursor: page.next } };
    },
    getProduction: async ({ params, query }) => ({
      status: 200,
      body: await useCases.productionAt({ model: params.model_name, at: query.at }),
    }),
  };
}

/** The strategy service's part of the registry. */
export function registerHandler(register: RegisterVersion): Handlers<'strategy'>['registerStrategy'] {
  return async ({ params, body, ...request }) => {
    const { backtest_run_id, container_image_uri, description, skip_validation, thresholds, tags } = body;
    const input = { model: params.name, backtest_run_id, container_image_uri };
    const options = { description, skip_validation, thresholds, tags };
    const registered = await register(registryCallOf(request), { ...input, ...options });
    return reply(201, registered, ignoredKeys(body, RegisterRequest));
  };
}

type Caller = Pick<HandlerRequest<unknown>, 'principal' | 'headers' | 'correlationId'>;

/** Who makes a move, and by which request. */
export function registryCallOf({ principal, headers, correlationId }: Caller): RegistryCall {
  return {
    actor: callerOf(principal),
    idempotencyKey: headers.get('Idempotency-Key'),
    correlationId,
  };
}

function reply<S extends 200 | 201, T extends { readonly warnings?: readonly string[] }>(
  status: S,
  { body, replayed }: MoveReply<T>,
  ignored: readonly string[],
) {
  const headers: Record<string, string> = replayed ? { 'Idempotent-Replay': 'true' } : {};
  return { status, body: { ...body, warnings: [...(body.warnings ?? []), ...ignored] }, headers };
}

/** A misspelt `expected_production` guards nothing: whoever sent it must hear of it. */
export function ignoredKeys(
  body: Readonly<Record<string, unknown>>,
  { shape }: { readonly shape: object },
): string[] {
  return unknownKeyWarnings(body, Object.keys(shape), '');
}

/** The keys of a waiver that nobody reads. */
export function ignoredOfWaiver(waive: WaiveRequest | undefined): string[] {
  return waive ? unknownKeyWarnings({ ...waive }, Object.keys(WaiveRequest.shape), 'waive.') : [];
}

/** The body's schema has made sure of one of them. */
function versionOf(body: { readonly version?: string | number | undefined }, synonym: string): string {
  return String(body.version ?? (body as Readonly<Record<string, unknown>>)[synonym]);
}

function expectedProduction(version: string | number | null | undefined): string | null | undefined {
  return typeof version === 'number' ? String(version) : version;
}
