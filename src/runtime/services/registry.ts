import {
  PromoteRequest,
  RegisterRequest,
  type ReleaseRulesView,
  RollbackRequest,
  StageRequest,
  StopRequest,
} from '#contract/registry/registry-api.ts';
import { WaiveRequest } from '#contract/registry/release-policy.ts';
import type { Ownership } from '#domain/access/access.ts';
import { compareVersions } from '#domain/catalog/compare-versions.ts';
import { type ListCatalogDeps, listCatalog } from '#domain/catalog/list-catalog.ts';
import { labelVersion } from '#domain/registry/label-version.ts';
import { getProductionPeriods } from '#domain/registry/production-periods.ts';
import { type PromoteVersionDeps, promoteVersion } from '#domain/registry/promote-version.ts';
import {
  getHistory,
  getProduction,
  getVersion,
  listVersions,
  type ReadModelsDeps,
} from '#domain/registry/read-models.ts';
import { type RegisterStrategyDeps, registerStrategy } from '#domain/registry/register-strategy.ts';
import { type RollbackModelDeps, rollbackModel } from '#domain/registry/rollback-model.ts';
import { type StageVersionDeps, stageVersion } from '#domain/registry/stage-version.ts';
import { stopModel } from '#domain/registry/stop-model.ts';
import { unknownKeyWarnings } from '#domain/shared/unknown-keys.ts';
import type { TransitionCall, TransitionResult } from '#domain/transitions/apply-transition.ts';
import { readSameRunWarnings } from '#domain/transitions/same-run.ts';
import { callerOf } from '../authenticate.ts';
import type { GroupHandlers, HandlerRequest } from '../handler.ts';
import { sharingHandlers } from './sharing.ts';

export type RegistryDeps = StageVersionDeps &
  PromoteVersionDeps &
  RollbackModelDeps &
  ReadModelsDeps &
  ListCatalogDeps;

/**
 * The backend's part of the registry: stage transitions and reads of one model, and the catalog of all. Long because it is the
 * table of the handlers.
 */
export function registryHandlers(deps: RegistryDeps, ownership: Ownership): GroupHandlers<'registry'> {
  const sharing = sharingHandlers(ownership, 'model', 'model_name');
  return {
    stageVersion: async ({ params, body, ...request }) => {
      const { comment, validate_only, skip_validation, waive } = body;
      const version = versionOf(body, 'model_version');
      const input = { model: params.name, version, comment, validate_only, skip_validation, waive };
      const staged = await stageVersion(deps, transitionCallOf(request), input);
      const same = await readSameRunWarnings(deps.registry, params.name, staged.body.version);
      return reply(200, staged, [...same, ...ignoredKeys(body, StageRequest), ...ignoredOfWaiver(waive)]);
    },
    promoteVersion: async ({ params, body, ...request }) => {
      const { comment, challenge_id, force, waive } = body;
      const promoted = await promoteVersion(deps, transitionCallOf(request), {
        model: params.name,
        version: versionOf(body, 'model_version'),
        expected_production: expectedProduction(body.expected_production),
        comment,
        challenge_id,
        force,
        waive,
      });
      const same = await readSameRunWarnings(deps.registry, params.name, promoted.body.version);
      return reply(200, promoted, [...same, ...ignoredKeys(body, PromoteRequest), ...ignoredOfWaiver(waive)]);
    },
    rollbackModel: async ({ params, body, ...request }) => {
      const rolledBack = await rollbackModel(deps, transitionCallOf(request), {
        model: params.model_name,
        version: namedVersion(body, 'target_version'),
        expected_production: expectedProduction(body.expected_production),
        reason: body.reason,
      });
      return reply(200, rolledBack, ignoredKeys(body, RollbackRequest));
    },
    stopModel: async ({ params, body, ...request }) => {
      const stopped = await stopModel(deps, transitionCallOf(request), {
        model: params.model_name,
        expected_production: expectedProduction(body.expected_production),
        reason: body.reason,
      });
      const { model_name, previous_production: version } = stopped.body;
      return { ...reply(200, stopped, ignoredKeys(body, StopRequest)), changed: { model_name, version } };
    },
    listVersions: async ({ params: { model_name }, query }) => {
      const { include_archived: includeArchived, limit, cursor = null } = query;
      const page = await listVersions(deps, { model: model_name, includeArchived, limit, cursor });
      const versions = [...page.items];
      return { status: 200, body: { model_name, versions, count: versions.length, next_cursor: page.next } };
    },
    getVersion: async ({ params: { model_name, version } }) => ({
      status: 200,
      body: await getVersion(deps, { model: model_name, version }),
    }),
    labelVersion: async ({ params: { model_name, version }, body: { aliases, tags }, ...request }) => {
      const input = { model_name, version, aliases, tags };
      const reference = { model: model_name, version, field: 'version', operation: 'labelVersion', input };
      const labelled = await labelVersion(deps, transitionCallOf(request), reference, () => ({
        ...(aliases && { aliases }),
        ...(tags && { tags }),
      }));
      return { status: 200, body: await getVersion(deps, { model: model_name, version: labelled }) };
    },
    getHistory: async ({ params, query: { limit, cursor = null } }) => {
      const page = await getHistory(deps, { model: params.model_name, limit, cursor });
      const items = page.items.map(({ schema_version: _, model_name: __, ...event }) => event);
      return { status: 200, body: { items, next_cursor: page.next } };
    },
    getProduction: async ({ params: { model_name: model }, query }) => ({
      status: 200,
      body: isRange(query)
        ? await getProductionPeriods(deps, { model, ...query })
        : await getProduction(deps, { model, at: query.at }),
    }),
    getReleaseRules: async () => ({ status: 200, body: releaseRulesView(deps) }),
    getModelSharing: sharing.read,
    shareModel: sharing.share,
    listCatalog: async ({ query, principal }) => ({
      status: 200,
      body: await listCatalog(deps, { ...query, caller: callerOf(principal) }),
    }),
    compareVersions: async ({ params, query }) => ({
      status: 200,
      body: await compareVersions(deps, { model: params.name, ...query }),
    }),
  };
}

function isRange({ from, to }: { readonly from?: string | undefined; readonly to?: string | undefined }) {
  return from !== undefined || to !== undefined;
}

/** The strategy service's part of the registry. */
export function registerHandler(deps: RegisterStrategyDeps): GroupHandlers<'strategy'>['registerStrategy'] {
  return async ({ params, body, ...request }) => {
    const { backtest_run_id, container_image_uri, description, tags } = body;
    const { skip_validation, thresholds, waive } = body;
    const input = { model: params.name, backtest_run_id, container_image_uri, description, tags };
    const options = { skip_validation, thresholds, waive };
    const registered = await registerStrategy(deps, transitionCallOf(request), { ...input, ...options });
    const same = await readSameRunWarnings(deps.registry, params.name, registered.body.version);
    return reply(201, registered, [
      ...same,
      ...ignoredKeys(body, RegisterRequest),
      ...ignoredOfWaiver(waive),
    ]);
  };
}

type Caller = Pick<HandlerRequest<unknown>, 'principal' | 'headers' | 'correlationId'>;

/** The caller of a transition, and its request. */
export function transitionCallOf({ principal, headers, correlationId }: Caller): TransitionCall {
  return {
    actor: callerOf(principal),
    idempotencyKey: headers.get('Idempotency-Key'),
    correlationId,
  };
}

function reply<S extends 200 | 201, T extends { readonly warnings?: readonly string[] }>(
  status: S,
  { body, replayed }: TransitionResult<T>,
  ignored: readonly string[],
) {
  const headers: Record<string, string> = replayed ? { 'Idempotent-Replay': 'true' } : {};
  return { status, body: { ...body, warnings: [...(body.warnings ?? []), ...ignored] }, headers };
}

/** Warnings for unknown keys: a misspelled `expected_production` has no effect. */
export function ignoredKeys(
  body: Readonly<Record<string, unknown>>,
  { shape }: { readonly shape: object },
): string[] {
  return unknownKeyWarnings(body, Object.keys(shape), '');
}

/** Warnings for unknown keys of a waiver. */
export function ignoredOfWaiver(waive: WaiveRequest | undefined): string[] {
  return waive ? unknownKeyWarnings({ ...waive }, Object.keys(WaiveRequest.shape), 'waive.') : [];
}

type NamesVersion = { readonly version?: string | number | undefined };

/** The body's schema guarantees one of them. */
function versionOf(body: NamesVersion, synonym: string): string {
  return namedVersion(body, synonym)!;
}

function namedVersion(body: NamesVersion, synonym: string): string | undefined {
  const named = body.version ?? (body as Readonly<Record<string, unknown>>)[synonym] ?? undefined;
  return named === undefined ? undefined : String(named);
}

function expectedProduction(version: string | number | null | undefined): string | null | undefined {
  return typeof version === 'number' ? String(version) : version;
}

function releaseRulesView(deps: RegistryDeps): ReleaseRulesView {
  const { releasePolicy: policy } = deps;
  return {
    four_eyes: deps.fourEyesRequired,
    validation_required: deps.stagingDryRunRequired,
    rollback_reason_required: deps.rollbackReasonRequired,
    release_policy: {
      min_trades: policy.minTrades ?? null,
      min_days: policy.minDays ?? null,
      max_evidence_age_days: policy.maxEvidenceAgeDays ?? null,
      min_sharpe: policy.minSharpe ?? null,
      min_profit_factor: policy.minProfitFactor ?? null,
      max_drawdown: policy.maxDrawdown ?? null,
      min_deflated_sharpe: policy.minDeflatedSharpe ?? null,
      look_ahead_certificate: policy.lookAheadCertificate,
    },
  };
}
