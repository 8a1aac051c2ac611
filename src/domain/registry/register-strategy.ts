import type { JobIn } from '#contract/backtests/backtest.ts';
import { RegisteredReport } from '#contract/backtests/report.ts';
import type { ValidationCheck } from '#contract/common/validation-check.ts';
import { type LookAhead, lookAheadCheck, lookAheadOf } from '#contract/config/look-ahead.ts';
import type { RegisterResult } from '#contract/registry/registry-api.ts';
import type { ReleasePolicy, WaiveRequest } from '#contract/registry/release-policy.ts';

import type {
  Evidence,
  StoredVersion,
  Thresholds,
  Validation,
  VersionContent,
  Waiver,
} from '#contract/registry/stored-registry.ts';
import { lowestDeflation } from '#contract/values/deflated-ratio.ts';
import { CodedError } from '#contract/values/errors.ts';
import { REGISTRATION_LIMITS } from '#contract/values/registry-limits.ts';
import { canonicalJson } from '#engine/digest.ts';
import { TIMEFRAME_MS } from '#engine/timeframe.ts';
import { checkAccess } from '../access/access.ts';
import { findStrategy } from '../config/find-strategy.ts';
import type { Strategies } from '../config/strategy-ports.ts';
import type { HyperoptStore } from '../hyperopt/hyperopt-ports.ts';
import type { JobStore, ResultStore } from '../ports.ts';
import { isoTime } from '../shared/iso-time.ts';
import { expired, unknownBacktest } from '../shared/unknown-resources.ts';
import { checkMaxLength, checkTags } from '../shared/validate.ts';
import type { SignalsStore } from '../signals/signals-ports.ts';
import {
  applyTransition,
  type TransitionCall,
  type TransitionDeps,
  type TransitionResult,
} from '../transitions/apply-transition.ts';
import { plainCheck, statusOf, waivedCheck, warningsFor } from '../transitions/check-status.ts';
import { nextTimestamp, planTransition, stageTransitions } from '../transitions/plan-transition.ts';
import type { RegistryStore } from '../transitions/registry-store.ts';
import {
  checkPolicy,
  isSet,
  needlessWaivers,
  type RequestedWaiver,
  readWaiver,
  waiverNotes,
  waiverOf,
} from '../transitions/release-policy.ts';
import { checkImageUri, type ImageRegistry, resolveImage } from './container-image.ts';
import {
  checkThresholds,
  describeFailures,
  missedThresholds,
  NO_TRADES,
  unknownThresholds,
  withoutThresholds,
} from './validation-checks.ts';

export interface RegisterStrategyDeps extends TransitionDeps {
  readonly registry: RegistryStore;
  readonly jobs: JobStore;
  readonly results: ResultStore;
  readonly strategies: Strategies;
  readonly signals: Pick<SignalsStore, 'keep' | 'sharing'>;
  readonly images: ImageRegistry | null;
  /** Registries from which images may come; null: any. */
  readonly allowedRegistries: readonly string[] | null;
  readonly hyperoptJobs: Pick<HyperoptStore, 'get' | 'setEvidence'>;
  readonly releasePolicy: ReleasePolicy;
}

export interface RegisterStrategyInput {
  readonly model: string;
  readonly backtest_run_id: string;
  readonly container_image_uri: string;
  readonly description?: string | undefined;
  readonly skip_validation?: boolean | undefined;
  readonly thresholds?: Thresholds | undefined;
  readonly tags?: readonly string[] | undefined;
  /** Admins only. Waives a found look-ahead bias. */
  readonly waive?: WaiveRequest | undefined;
}

const JOB_ID = /^bt-[A-Za-z0-9]{1,64}$/;
/** Largest version number that fits the keys; far above the versions of any model. */
const MAX_VERSIONS = 999_999;

/** Content of a version, and the results of the checks at its registration. */
interface Registration {
  readonly content: VersionContent;
  readonly validation: Validation;
  readonly description: string;
  readonly tags: string[];
  readonly requested: RequestedWaiver | null;
}

/**
 * Registers a completed backtest of a strategy as the next version of the model of that name, which the first registration
 * makes the caller's. A rejected registration does not use a number.
 * Throws AUTH005 (the model or the backtest is another's), RES002 (strategy), RES001 (backtest), RES005 (not completed, or a found
 * look-ahead bias that is not waived), VAL004 and VAL005 (the waiver), VAL005 (of another strategy, or thresholds missed:
 * `context.failures`), VAL006 (image), DATA005, SVC005.
 */
export async function registerStrategy(
  deps: RegisterStrategyDeps,
  call: TransitionCall,
  input: RegisterStrategyInput,
): Promise<TransitionResult<RegisterResult>> {
  let registration: Promise<Registration> | undefined;
  const access = { kind: 'model', id: input.model, field: 'name', level: 'write' } as const;
  return applyTransition(
    deps,
    stageTransitions(deps.registry),
    { operation: 'registerStrategy', call, input },
    async (key) => {
      const state = await deps.registry.read(input.model, [], key);
      // Checked before a stored response is repeated too: the caller may have lost access since.
      if (state.model) checkAccess(call.actor, state.model, access);
      return state;
    },
    async ({ model = null }) => {
      registration ??= checkRegistration(deps, call, input);
      const number = (model?.latest_version ?? 0) + 1;
      if (number > MAX_VERSIONS)
        throw new CodedError('RES005', {
          message: `The model has ${MAX_VERSIONS} versions, the maximum: register under another strategy name`,
        });
      const at = nextTimestamp(deps, model);
      const registered = await registration;
      const waiver = waiverOf('register', registered.validation.checks, registered.requested, { call, at });
      const version = newVersion(deps, call, registered, { model: input.model, number, at, waiver });
      const notes = [...warningsFor(version.validation), ...waiverNotes(waiver)];
      const change = { action: 'register', call, at, before: null, version, notes, waiver } as const;
      const needless = needlessWaivers(registered.requested, waiver);
      return { body: resultOf(deps, version, input, needless), write: planTransition(deps, model, change) };
    },
  );
}

async function checkRegistration(
  deps: RegisterStrategyDeps,
  call: TransitionCall,
  input: RegisterStrategyInput,
): Promise<Registration> {
  const requested = readWaiver(input.waive, ['look_ahead']);
  await findStrategy(deps.strategies, input.model, { field: 'name', unknown: 'RES002', key: 'name' });
  const job = await completedBacktest(deps.jobs, call, input);
  const uri = checkImageUri(input.container_image_uri, deps.allowedRegistries);
  const thresholds = checkThresholds(input.thresholds);
  const check = withIgnored(thresholdCheck(deps, job, thresholds, input.skip_validation ?? false), input);
  const description = checkMaxLength(input.description, 'description', REGISTRATION_LIMITS.description) ?? '';
  const tags = checkTags(input.tags ?? [], REGISTRATION_LIMITS);
  const [imageDigest, { provenance, range }, lineage] = await Promise.all([
    resolveImage(deps.images, uri),
    readReport(deps.results, job),
    lineageOf(deps, job),
  ]);
  const { data_digest, strategy_digest, engine_version } = provenance;
  const content: VersionContent = {
    backtest_run_id: job.job_id,
    config: job.config,
    container_image_uri: uri,
    image_digest: imageDigest,
    metrics: job.result,
    results: job.results,
    thresholds,
    candle_digest: data_digest,
    strategy_digest,
    engine_version,
    ...selectionOf(lineage, range, job),
  };
  const now = deps.clock.now();
  const lookAhead = checkLookAhead(call, job, lineage, requested);
  const policy = checkPolicy(deps.releasePolicy, { ...content, created_at: isoTime(now) }, now);
  const checks = [check, lookAhead, ...policy];
  await keepEvidence(deps, content, input.model, isoTime(now));
  const validation = { status: statusOf(checks), checks, job_id: null };
  return { content, validation, description, tags, requested };
}

/**
 * Look-ahead check of the backtest and of the search that found its parameters. Throws RES005 for a found leak that is not waived: its
 * metrics cannot be earned.
 */
function checkLookAhead(
  { actor }: TransitionCall,
  job: JobIn<'completed'>,
  { lookAhead: searched, search }: Lineage,
  requested: RequestedWaiver | null,
): ValidationCheck {
  const own = lookAheadOf(job);
  const lookAhead = own.state !== 'found' && searched?.state === 'found' ? searched : own;
  const check = lookAheadCheck(lookAhead);
  if (lookAhead.state !== 'found') return check;
  if (requested) return waivedCheck(check, { actor: actor.id, reason: requested.reason });
  const of = lookAhead === own ? `backtest ${job.job_id}` : `hyperopt job ${search.hyperopt_job_id}`;
  const { state, findings } = lookAhead;
  throw new CodedError('RES005', {
    message: `Not registered: look-ahead bias was found in ${of}, so its metrics cannot be earned. ${findings[0]}. Fix the strategy and run it again, or have an admin waive look_ahead with a reason`,
    field: 'backtest_run_id',
    context: { look_ahead: state, findings },
  });
}

/**
 * Marks the jobs behind a version, so that they never expire: before the version is stored, so that no version is without
 * its evidence. A registration that then fails leaves a mark that expiry removes. Throws RES006 when the results expired
 * since they were read.
 */
async function keepEvidence(
  { jobs, hyperoptJobs, signals }: RegisterStrategyDeps,
  { backtest_run_id: id, evidence, config }: VersionContent,
  model: string,
  at: string,
): Promise<void> {
  const search = evidence?.hyperopt_job_id;
  const file = config.signals;
  if (file !== undefined && !(await signals.keep(file, model, at))) {
    throw new CodedError('RES006', {
      message: `The file of signals ${file} was deleted: upload it again and register a backtest of the new one`,
      field: 'backtest_run_id',
      context: { signals_id: file },
    });
  }
  const [isStored] = await Promise.all([
    jobs.setEvidence(id, model, at),
    // The version has what it needs of its search: an expired one does not prevent it.
    search ? hyperoptJobs.setEvidence(search, model, at) : true,
  ]);
  if (!isStored) throw expired('The backtest', id, 'backtest_run_id');
}

async function completedBacktest(
  jobs: JobStore,
  { actor }: TransitionCall,
  input: RegisterStrategyInput,
): Promise<JobIn<'completed'>> {
  const { backtest_run_id: id, model } = input;
  const field = 'backtest_run_id';
  if (!JOB_ID.test(id)) {
    const message = 'backtest_run_id must be the job_id of a backtest: bt-<id>';
    throw new CodedError('VAL005', { message, field, context: { value: id.slice(0, 100) } });
  }
  const job = await jobs.get(id);
  if (!job) throw unknownBacktest(id, field);
  checkAccess(actor, job, { kind: 'backtest', id, field, level: 'read' });
  if (job.expired_at ?? job.results_expired) throw expired('The results of the backtest', id, field);
  if (job.status !== 'completed') {
    const message = `The backtest is ${job.status}, not completed`;
    throw new CodedError('RES005', { message, field, context: { backtest_run_id: id, status: job.status } });
  }
  if (job.config.universe) {
    throw new CodedError('VAL005', {
      message:
        'The backtest has config.universe, and a version trades a fixed list of pairs: register a backtest of its pairs without config.universe',
      field,
      context: { value: id },
    });
  }
  if (job.config.strategy === model) return job;
  throw new CodedError('VAL005', {
    message: `The backtest is of strategy ${job.config.strategy}, not of ${model}: register it there`,
    field,
    context: { value: id, strategy: job.config.strategy, allowed: [model] },
  });
}

/** Throws VAL005 for thresholds that the backtest misses. */
function thresholdCheck(
  { releasePolicy }: Pick<RegisterStrategyDeps, 'releasePolicy'>,
  job: JobIn<'completed'>,
  thresholds: Thresholds | null,
  skip: boolean,
) {
  const name = 'thresholds';
  if (skip) return plainCheck(name, 'skipped', 'Registered with skip_validation');
  if (!thresholds) {
    if (job.result.total_trades === 0) return plainCheck(name, 'failed', NO_TRADES);
    return withoutThresholds(releasePolicy);
  }
  const failures = missedThresholds(job.result, thresholds);
  const [first] = failures;
  if (!first) return plainCheck(name, 'passed', 'The metrics reach every threshold');
  throw new CodedError('VAL005', {
    message: `Not registered: ${describeFailures(failures)}`,
    field: `thresholds.${first.name}`,
    context: { failures: failures.map(({ name: _, ...failure }) => failure) },
  });
}

/** A misspelled threshold has no effect: the check names it. */
function withIgnored(check: ValidationCheck, { thresholds }: RegisterStrategyInput): ValidationCheck {
  const ignored = unknownThresholds(thresholds);
  if (ignored.length === 0) return check;
  const status = check.status === 'passed' ? 'warning' : check.status;
  return { ...check, status, message: [check.message, ...ignored].join('. ') };
}

function newVersion(
  deps: RegisterStrategyDeps,
  { actor }: TransitionCall,
  { content, validation, description, tags }: Registration,
  {
    model,
    number,
    at,
    waiver,
  }: {
    readonly model: string;
    readonly number: number;
    readonly at: string;
    readonly waiver: Waiver | null;
  },
): StoredVersion {
  return {
    ...content,
    schema_version: 1,
    model_name: model,
    version: String(number),
    content_hash: deps.digest(canonicalJson(content)),
    description,
    tags,
    created_by: actor.id,
    created_at: at,
    updated_at: at,
    stage: 'None',
    validation,
    staged_at: null,
    promoted_at: null,
    archived_at: null,
    rolled_back: false,
    rolled_back_reason: null,
    stopped: false,
    stopped_reason: null,
    waivers: waiver ? [waiver] : [],
  };
}

function resultOf(
  { releasePolicy }: RegisterStrategyDeps,
  { model_name, version, stage, validation, content_hash, thresholds }: StoredVersion,
  { skip_validation }: RegisterStrategyInput,
  needless: readonly string[],
): RegisterResult {
  const [thresholdsCheck, ...others] = validation.checks;
  const missed = others.filter(({ status }) => status === 'failed');
  const unmet = missed.map((check) => `${check.name}: ${check.message}`);
  const message = [
    `Registered as version ${version} of ${model_name}.${remark(thresholdsCheck!)}`,
    ...others.filter(({ status }) => status === 'waived').map(({ name }) => `${name} is waived.`),
    ...(missed.length > 0 ? ['It fails the release policy: it cannot be staged.'] : []),
  ].join(' ');
  const ungated = !skip_validation && thresholds === null && !isSet(releasePolicy);
  const warnings = [
    ...unmet.map((each) => `release policy: ${each}`),
    ...(ungated ? [UNGATED] : []),
    ...needless,
  ];
  return { success: true, message, version, model_name, stage, validation, content_hash, warnings };
}

const UNGATED =
  'thresholds: none given and no release policy is set, so no metric was checked. Pass min_sharpe, min_profit_factor or max_drawdown';

function remark({ status, message }: ValidationCheck): string {
  if (status === 'skipped') return ` Validation was skipped: ${message}.`;
  if (status === 'failed') return ` It cannot be staged: ${message}.`;
  return status === 'warning' ? ` ${message}.` : '';
}

/** Provenance of a stored report and the range of its candles. Throws DATA005 when it cannot be read. */
async function readReport(results: ResultStore, { results: stored, config }: JobIn<'completed'>) {
  const report = RegisteredReport.safeParse(await results.read(stored, 'report'));
  if (!report.success) {
    throw new CodedError('DATA005', { message: 'The stored report is corrupt', cause: report.error });
  }
  const { provenance, data } = report.data;
  const first = Math.min(...data.map((pair) => Date.parse(pair.first)));
  const last = Math.min(...data.map((pair) => Date.parse(pair.last)));
  const to = last + TIMEFRAME_MS[config.timeframe];
  const range: Pick<Evidence, 'from' | 'to'> = { from: isoTime(first), to: isoTime(to) };
  return { provenance, range };
}

/**
 * Trials behind a version: those of the search that found its parameters, or those of the backtest's owner if they are more. The lower
 * of the deflated Sharpe ratios of hyperopt job and backtest counts. Where one of them is undefined, so is that of the version.
 */
function selectionOf(
  { trials, search }: Lineage,
  range: Pick<Evidence, 'from' | 'to'>,
  { trial_record: record }: JobIn<'completed'>,
): Pick<VersionContent, 'trials' | 'evidence'> {
  if (!record) return { trials, evidence: { ...range, ...search } };
  const { hyperopt_job_id, deflated_sharpe_ratio: found } = search;
  const { deflated_sharpe_ratio: own } = lowestDeflation(record);
  const isUndefined =
    (hyperopt_job_id !== null && found === null) || record.lowest?.deflated_sharpe_ratio === null;
  const known = [found, own].filter((each) => each !== null);
  return {
    trials: Math.max(trials, record.owner),
    evidence: {
      ...range,
      hyperopt_job_id,
      deflated_sharpe_ratio: isUndefined || known.length === 0 ? null : Math.min(...known),
      trial_record: record,
    },
  };
}

interface Lineage {
  /** Configurations tried to find this one. */
  readonly trials: number;
  readonly search: Pick<Evidence, 'hyperopt_job_id' | 'deflated_sharpe_ratio'>;
  /** Look-ahead bias check of the search; absent where it is not known. */
  readonly lookAhead?: LookAhead | undefined;
}

/** One configuration was run to find it. */
const NO_SEARCH: Lineage = { trials: 1, search: { hyperopt_job_id: null, deflated_sharpe_ratio: null } };

/**
 * The search that found a backtest's parameters: its own hyperopt job, or that of the registered version that it ran again.
 * Throws DATA005, SVC005.
 */
async function lineageOf(
  deps: { readonly hyperoptJobs: Pick<HyperoptStore, 'get'>; readonly registry: Pick<RegistryStore, 'read'> },
  { found_by, registered }: JobIn<'completed'>,
): Promise<Lineage> {
  if (found_by) {
    const { hyperopt_job_id, trials } = found_by;
    const outcome = await outcomeOf(deps, hyperopt_job_id);
    const deflated_sharpe_ratio = outcome?.overfitting.deflated_sharpe_ratio ?? null;
    return { trials, search: { hyperopt_job_id, deflated_sharpe_ratio }, lookAhead: outcome?.look_ahead };
  }
  if (!registered) return NO_SEARCH;
  const { model_name, version } = registered;
  const { versions } = await deps.registry.read(model_name, [version]);
  const source = versions.get(version);
  if (!source) return NO_SEARCH;
  const { hyperopt_job_id = null, deflated_sharpe_ratio = null } = source.evidence ?? {};
  // A leak that was waived for that version is not waived for this one.
  const lookAhead =
    hyperopt_job_id === null ? undefined : (await outcomeOf(deps, hyperopt_job_id))?.look_ahead;
  return { trials: source.trials, search: { hyperopt_job_id, deflated_sharpe_ratio }, lookAhead };
}

/** Outcome of a completed search; undefined for another one, and for one that has expired. */
async function outcomeOf(deps: { readonly hyperoptJobs: Pick<HyperoptStore, 'get'> }, jobId: string) {
  const job = await deps.hyperoptJobs.get(jobId);
  return job?.status === 'completed' ? job.outcome : undefined;
}
