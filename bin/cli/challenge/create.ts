import type { Challenge } from '#contract/challenge-api.ts';
import { type ApiClient, ApiError } from '../client.ts';
import { minute, number } from '../format.ts';
import { challengesOf } from './find.ts';

export interface CreateOptions {
  /** A version or an alias. */
  readonly champion: string;
  readonly minTrades?: number;
  readonly maxHours?: number;
  /** Option --no-canary. */
  readonly canary: boolean;
  readonly maxDrawdown?: number;
  readonly maxErrors?: number;
  /** Comma separated. */
  readonly approvalStages?: string;
  readonly analysisUnit?: string;
  readonly onRollback?: string;
  readonly autoPromote?: boolean;
  readonly json?: boolean;
}

/** Starts the test of a version and prints what comes next. */
export async function createChallenge(
  client: ApiClient,
  model: string,
  challenger: string,
  options: CreateOptions,
): Promise<void> {
  const body = {
    champion_version: options.champion,
    challenger_version: challenger,
    ...settingsOf(options),
  };
  const challenge = await client.post<Challenge>(challengesOf(model), body).catch((error: unknown) => {
    throw isWithoutChampion(error) ? withoutChampion(model, error) : error;
  });
  console.log(options.json ? JSON.stringify(challenge) : createdText(challenge));
}

function isWithoutChampion(error: unknown): error is ApiError {
  return error instanceof ApiError && error.context.version === 'champion';
}

function withoutChampion(model: string, cause: ApiError): Error {
  const what = `promote one (npx touchstone promote ${model} <version>), or name the champion with --champion`;
  return new Error(`No version of ${model} is in Production: ${what}`, { cause });
}

/** As the request names them; what is undefined is not sent. */
function settingsOf(options: CreateOptions) {
  return {
    min_trades: options.minTrades,
    max_duration_hours: options.maxHours,
    enable_canary: options.canary,
    max_drawdown_pct: options.maxDrawdown,
    max_errors: options.maxErrors,
    approval_stages: options.approvalStages?.split(',').map((stage) => stage.trim()),
    analysis_unit: options.analysisUnit,
    on_rollback: options.onRollback,
    auto_promote: options.autoPromote,
  };
}

/** What a verdict needs. */
function needsText({ effective_min_trades, min_assignments, min_hours }: Challenge): string {
  return [
    `${number(effective_min_trades, 0)} closed trades of each arm`,
    ...(min_assignments > 0 ? [`${number(min_assignments, 0)} assignments of each`] : []),
    ...(min_hours > 0 ? [`after ${number(min_hours, 0)} hours`] : []),
  ].join(', ');
}

function createdText(challenge: Challenge): string {
  const { challenge_id: id, model_name, champion_version, challenger_version, traffic_split } = challenge;
  return [
    `Created ${id} of ${model_name}: version ${challenger_version} against ${champion_version}, with ${number(100 * traffic_split[1]!, 0)} % of the traffic${challenge.enable_canary ? ' at first' : ''}`,
    ...challenge.warnings.map((warning) => `Warning: ${warning}`),
    `The first verdict comes with ${needsText(challenge)}; without one by ${minute(challenge.ends_at)} UTC the champion stays.`,
    `Next: npx touchstone challenge log ${id} trades.csv`,
    `      npx touchstone challenge status ${id}`,
  ].join('\n');
}
