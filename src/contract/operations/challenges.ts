import {
  AdvanceRequest,
  Assignment,
  AssignmentRequest,
  Challenge,
  ChallengeEvaluation,
  ChallengeEvaluationList,
  ChallengeEvaluationsQuery,
  ChallengeEventList,
  ChallengeList,
  ChallengePageQuery,
  ChallengeParams,
  ChallengePromoteRequest,
  ChallengeRequest,
  ChallengeRollbackRequest,
  ChallengesQuery,
  ChallengeTradeList,
  HoldRequest,
  ResumeRequest,
  Route,
  RouteQuery,
} from '../challenge-api.ts';
import { TradesRequest, TradesResponse } from '../challenge-trade.ts';
import type { Operation } from '../operation.ts';
import { ModelParams } from '../registry-api.ts';

const CHALLENGES = 'Challenges';
const OF_MODEL = { service: 'strategy', tag: CHALLENGES, params: ModelParams } as const;
const OF_CHALLENGE = { service: 'strategy', tag: CHALLENGES, params: ChallengeParams } as const;
const readsModel = { resource: { kind: 'model', id: 'model_name', level: 'read' } } as const;
const changesModel = { resource: { kind: 'model', id: 'model_name', level: 'write' } } as const;
const readsChallenge = { resource: { kind: 'challenge', id: 'challenge_id', level: 'read' } } as const;
const changesChallenge = { resource: { kind: 'challenge', id: 'challenge_id', level: 'write' } } as const;

/** A challenge's paths: with the prefix of everything, and bare as the interface lists them. */
function paths<P extends string>(path: P) {
  return {
    path: `/api/v1/challenges/{challenge_id}${path}`,
    alias: `/challenges/{challenge_id}${path}`,
  } as const;
}

/** Rows of the strategy service that test a version against the one in Production. */
export const CHALLENGE_OPERATIONS = [
  {
    ...{ ...OF_MODEL, ...changesModel },
    id: 'createChallenge',
    method: 'POST',
    path: '/api/v1/models/{model_name}/challenges',
    summary: 'Test a version against the champion with part of the traffic',
    description: 'A model has one active challenge. Promoting or rolling back the model ends it.',
    body: ChallengeRequest,
    success: { 201: { description: 'Active', schema: Challenge } },
    errors: ['VAL005', 'RES002', 'RES003', 'RES005', 'RES006', 'SVC005'],
    access: 'researcher',
    agent: 'decide',
    fieldRoles: { auto_promote: 'approver' },
  },
  {
    ...{ ...OF_MODEL, ...readsModel },
    id: 'listChallenges',
    method: 'GET',
    path: '/api/v1/models/{model_name}/challenges',
    summary: 'Challenges of a model, newest first',
    query: ChallengesQuery,
    success: { 200: { description: 'One page', schema: ChallengeList } },
    errors: ['VAL006', 'RES002', 'SVC005'],
    access: 'viewer',
  },
  {
    id: 'listAllChallenges',
    service: 'strategy',
    tag: CHALLENGES,
    method: 'GET',
    path: '/api/v1/challenges',
    summary: 'Challenges of all models, newest first',
    description:
      'Challenges of models that you own or that are shared with you; an admin sees all. A page may have fewer items than `limit` while more follow: continue until `next_cursor` is null. A new challenge appears within a second.',
    query: ChallengesQuery,
    success: { 200: { description: 'One page', schema: ChallengeList } },
    errors: ['VAL006', 'SVC005'],
    access: 'viewer',
    agent: 'read',
  },
  {
    ...{ ...OF_MODEL, ...readsModel },
    id: 'routeKey',
    method: 'GET',
    path: '/api/v1/models/{model_name}/route',
    summary: 'Version that decides for a key: the challenge assignment, else Production',
    description:
      'Records nothing: an assignment counts when it is posted, or comes with a trade. A key that the last challenge of the model knows keeps its version, also after the end.',
    query: RouteQuery,
    success: { 200: { description: 'The version', schema: Route } },
    errors: ['RES002', 'SVC005'],
    access: 'viewer',
  },
  {
    ...{ ...OF_CHALLENGE, ...readsChallenge, ...paths('') },
    id: 'getChallenge',
    method: 'GET',
    summary: 'A challenge',
    success: { 200: { description: 'The challenge', schema: Challenge } },
    errors: ['CHL001', 'SVC005'],
    access: 'viewer',
    agent: 'read',
  },
  {
    ...{ ...OF_CHALLENGE, ...changesChallenge, ...paths('/assignments') },
    id: 'assignKey',
    method: 'POST',
    summary: 'Assign a key to a version and count the assignment',
    description: 'A key keeps its first assignment when the traffic split changes.',
    body: AssignmentRequest,
    success: { 200: { description: 'The decision', schema: Assignment } },
    errors: ['VAL005', 'CHL001', 'SVC005'],
    access: 'researcher',
  },
  {
    ...{ ...OF_CHALLENGE, ...changesChallenge, ...paths('/trades') },
    id: 'logTrades',
    method: 'POST',
    summary: 'Add a trade result, or up to 100',
    description:
      'A `trade_id` counts once: the same body again is `duplicate`, another one RES005. A trade may come open first, and closed later. After the end a trade that was opened before it, or does not say when it was opened, is stored as `late` and changes nothing; one that was opened since is RES005.',
    body: TradesRequest,
    success: {
      201: { description: 'Logged', schema: TradesResponse },
      200: { description: 'All trades were logged before', schema: TradesResponse },
    },
    errors: ['VAL001', 'VAL002', 'VAL004', 'VAL005', 'CHL001', 'RES005', 'SVC005'],
    access: 'researcher',
  },
  {
    ...{ ...OF_CHALLENGE, ...readsChallenge, ...paths('/trades') },
    id: 'listChallengeTrades',
    method: 'GET',
    summary: 'Trades of a challenge, last logged first',
    query: ChallengePageQuery,
    success: { 200: { description: 'One page', schema: ChallengeTradeList } },
    errors: ['VAL006', 'CHL001', 'SVC005'],
    access: 'viewer',
  },
  {
    ...{ ...OF_CHALLENGE, ...readsChallenge, ...paths('/evaluate') },
    id: 'evaluateChallenge',
    method: 'GET',
    summary: 'Comparison of the variants, with a recommendation',
    description: 'Read-only: the verdict is computed when a trade is logged or the challenge ends.',
    success: { 200: { description: 'The evaluation', schema: ChallengeEvaluation } },
    errors: ['CHL001', 'SVC005'],
    access: 'viewer',
    agent: 'read',
  },
  {
    ...{ ...OF_CHALLENGE, ...readsChallenge, ...paths('/evaluations') },
    id: 'listChallengeEvaluations',
    method: 'GET',
    summary: 'How the comparison of the variants developed, oldest first',
    description:
      'Stored when the canary stage or the status changes, and when the closed trades have increased by 1 %, at least by one; a batch of trades stores one per 25 trades at most. A challenge of an earlier version of the platform has items from its first change since.',
    query: ChallengeEvaluationsQuery,
    success: { 200: { description: 'One page', schema: ChallengeEvaluationList } },
    errors: ['VAL006', 'CHL001', 'SVC005'],
    access: 'viewer',
  },
  {
    ...{ ...OF_CHALLENGE, ...readsChallenge, ...paths('/events') },
    id: 'listChallengeEvents',
    method: 'GET',
    summary: 'Events of a challenge, newest first',
    query: ChallengePageQuery,
    success: { 200: { description: 'One page', schema: ChallengeEventList } },
    errors: ['VAL006', 'CHL001', 'SVC005'],
    access: 'viewer',
    agent: 'read',
  },
  {
    ...{ ...OF_CHALLENGE, ...changesChallenge, ...paths('/advance') },
    id: 'advanceChallenge',
    method: 'POST',
    summary: 'Move the challenger to the next canary stage',
    description:
      'Skips the conditions of the stage and ends any hold, a manual one too. A cause that persists holds the challenge again.',
    body: AdvanceRequest,
    success: { 200: { description: 'The challenge', schema: Challenge } },
    errors: ['VAL005', 'CHL001', 'RES005', 'SVC005'],
    access: 'approver',
    agent: 'decide',
  },
  {
    ...{ ...OF_CHALLENGE, ...changesChallenge, ...paths('/hold') },
    id: 'holdChallenge',
    method: 'POST',
    summary: 'Keep the traffic share of the challenger unchanged',
    description:
      'The hold lasts until an approver resumes or advances. A second manual hold replaces the reason; without a reason it changes nothing.',
    body: HoldRequest,
    success: { 200: { description: 'The challenge', schema: Challenge } },
    errors: ['VAL005', 'CHL001', 'RES005', 'SVC005'],
    access: 'approver',
    agent: 'decide',
  },
  {
    ...{ ...OF_CHALLENGE, ...changesChallenge, ...paths('/resume') },
    id: 'resumeChallenge',
    method: 'POST',
    summary: 'End a hold',
    description:
      'The same cause does not hold the challenge again. For `no_traffic` the 24-hour timer restarts. An approval hold needs advance instead: RES005.',
    body: ResumeRequest,
    success: { 200: { description: 'The challenge', schema: Challenge } },
    errors: ['VAL005', 'CHL001', 'RES005', 'SVC005'],
    access: 'approver',
    agent: 'decide',
  },
  {
    ...{ ...OF_CHALLENGE, ...changesChallenge, ...paths('/promote') },
    id: 'promoteChallenge',
    method: 'POST',
    summary: 'Promote the challenger that won',
    description:
      'One transaction with the registry. The challenger must be in Staging and meet the release policy; the champion must still be in Production.',
    body: ChallengePromoteRequest,
    success: { 200: { description: 'The challenge', schema: Challenge } },
    errors: ['VAL004', 'VAL005', 'CHL001', 'RES002', 'RES003', 'RES005', 'RES006', 'DATA005', 'SVC005'],
    access: 'approver',
    agent: 'decide',
    fieldRoles: { waive: 'admin' },
  },
  {
    ...{ ...OF_CHALLENGE, ...changesChallenge, ...paths('/rollback') },
    id: 'rollBackChallenge',
    method: 'POST',
    summary: 'End a challenge: the champion stays',
    body: ChallengeRollbackRequest,
    success: { 200: { description: 'The challenge', schema: Challenge } },
    errors: ['VAL005', 'CHL001', 'RES005', 'SVC005'],
    access: 'approver',
    agent: 'decide',
  },
] as const satisfies readonly Operation[];
