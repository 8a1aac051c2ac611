import type { Challenge } from '#contract/challenge-api.ts';
import { postChecked, type WaiveOptions, waiverOf } from '../checks.ts';
import type { ApiClient } from '../client.ts';
import { minute, number } from '../format.ts';
import { challengePath, idOf } from './find.ts';
import { evidenceText, readStanding } from './status.ts';
import { holdText, standingText } from './words.ts';

export interface ControlOptions {
  readonly comment?: string;
  readonly reason?: string;
  readonly json?: boolean;
}

/** Advances, holds, resumes or rolls back a challenge and prints how it stands then. */
export async function controlChallenge(
  client: ApiClient,
  verb: 'advance' | 'hold' | 'resume' | 'rollback',
  reference: string,
  { comment, reason, json }: ControlOptions,
): Promise<void> {
  const challenge = await client.post<Challenge>(challengePath(await idOf(client, reference), `/${verb}`), {
    ...(comment === undefined ? {} : { comment }),
    ...(reason === undefined ? {} : { reason }),
  });
  console.log(json ? JSON.stringify(challenge) : standingNow(challenge));
}

function standingNow(challenge: Challenge): string {
  const { challenge_id, model_name, champion_version, challenger_version, traffic_split } = challenge;
  const [champion, challenger] = traffic_split.map((each) => `${number(100 * each, 0)} %`);
  return [
    `${challenge_id} of ${model_name} is ${standingText(challenge)}`,
    `Traffic: ${champion} to version ${champion_version}, ${challenger} to version ${challenger_version}`,
    ...holdText(challenge),
  ].join('\n');
}

export interface PromoteOptions extends WaiveOptions {
  readonly comment?: string;
  readonly check?: boolean;
  readonly json?: boolean;
}

/**
 * Prints what a promotion does and by which evidence, and does it unless it is only to be checked. Answers the exit code: of
 * a check 0 when it can be promoted, or was.
 */
export async function promoteChallenger(
  client: ApiClient,
  reference: string,
  { comment, check, json, ...options }: PromoteOptions,
): Promise<number> {
  const waiver = waiverOf(options);
  const standing = await readStanding(client, reference);
  const { challenge_id, model_name, champion_version, challenger_version } = standing.challenge;
  if (!json) {
    console.log(
      `${challenge_id} of ${model_name}: version ${challenger_version} to Production, in place of ${champion_version}`,
    );
    console.log(evidenceText(standing));
    for (const warning of standing.evaluation.warnings) console.log(`Warning: ${warning}`);
  }
  if (check) {
    const [text, code] = checked(standing.challenge);
    console.log(json ? JSON.stringify(standing) : text);
    return code;
  }
  const body = { ...(comment === undefined ? {} : { comment }), ...waiver };
  const promoted = await postChecked<Challenge>(client, challengePath(challenge_id, '/promote'), body);
  if (!promoted) return 1;
  const before = standing.challenge.promoted_at !== null;
  console.log(json ? JSON.stringify(promoted) : before ? alreadyText(promoted) : promotedText(promoted));
  return 0;
}

function checked(challenge: Challenge): [text: string, code: number] {
  const { status, outcome, promoted_at } = challenge;
  if (promoted_at) return ['It was promoted already.', 0];
  if (status === 'completed' && outcome === 'challenger_wins') {
    return ['Nothing is changed: leave out --check to promote it.', 0];
  }
  return [`It cannot be promoted: it is ${standingText(challenge)}.`, 1];
}

/** What came after it may have undone it. */
function alreadyText({ model_name, promoted_at }: Challenge): string {
  return `It was promoted already, at ${minute(promoted_at)} UTC. See: npx touchstone versions ${model_name}`;
}

function promotedText({ model_name, champion_version, challenger_version, promoted_at }: Challenge): string {
  return [
    `Version ${challenger_version} was promoted at ${minute(promoted_at)} UTC; version ${champion_version} is archived.`,
    `Back: npx touchstone rollback ${model_name} ${champion_version}`,
  ].join('\n');
}
