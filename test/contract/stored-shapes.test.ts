import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { BacktestExecutionInput, StoredBacktestJob } from '#contract/backtests/backtest.ts';
import { BacktestReport } from '#contract/backtests/report.ts';
import {
  HyperoptExecutionInput,
  StoredHyperoptJob,
  StoredPermutedTrials,
  StoredTrial,
} from '#contract/hyperopt/hyperopt.ts';
import { StoredTrialGroup } from '#contract/jobs/trial-ledger.ts';
import {
  CollectionQueue,
  StoredCollection,
  StoredInstrument,
  StoredSeries,
  StoredSeriesMonths,
} from '#contract/market-data/stored-market-data.ts';
import { StoredSignals } from '#contract/market-data/stored-signals.ts';
import { StoredAuditCall, StoredAuditOutcome } from '#contract/platform/audit.ts';
import { StoredDelivery, StoredWebhook } from '#contract/platform/stored-webhook.ts';
import { StoredApproval } from '#contract/registry/stored-approval.ts';
import {
  ChallengeEvent,
  StoredAssignment,
  StoredChallenge,
  StoredEvaluation,
  StoredTrade,
} from '#contract/registry/stored-challenge.ts';
import {
  CatalogRow,
  RegistryEvent,
  StoredIdempotencyRecord,
  StoredModel,
  StoredVersion,
} from '#contract/registry/stored-registry.ts';

/**
 * Stored items must stay readable. A failure here means that the stored shape has changed: raise its
 * `schema_version` unless every reader accepts items of the old shape, then pin the new hash.
 * Descriptions are not part of the shape.
 */
it.each([
  ['StoredBacktestJob', StoredBacktestJob, 2, '1dc12cc6063acd8a'],
  ['BacktestExecutionInput', BacktestExecutionInput, undefined, '84532fce1a1067bd'],
  ['StoredHyperoptJob', StoredHyperoptJob, 3, '113edc82ba06feea'],
  ['StoredTrialGroup', StoredTrialGroup, 2, '779ff76f4707c302'],
  ['StoredPermutedTrials', StoredPermutedTrials, 1, 'e677a1bbc786f0b4'],
  ['StoredTrial', StoredTrial, 2, '27cce7299b75b0a6'],
  ['HyperoptExecutionInput', HyperoptExecutionInput, undefined, 'c78654f61874449f'],
  ['BacktestReport', BacktestReport, 1, 'c244363f06b2dcc2'],
  ['StoredSeries', StoredSeries, 3, 'c68c4dcc1c30bcd3'],
  ['StoredSeriesMonths', StoredSeriesMonths, 2, '1e649eb08821d8b0'],
  ['StoredInstrument', StoredInstrument, 1, '6602f7e3fa10a9a0'],
  ['StoredCollection', StoredCollection, 2, 'f27fa5bcd792e434'],
  ['CollectionQueue', CollectionQueue, 2, '1e247ed524daf8c0'],
  ['StoredModel', StoredModel, 2, '3287c20299853e5d'],
  ['StoredApproval', StoredApproval, 1, '8f22e34f531c3c1e'],
  ['StoredVersion', StoredVersion, 1, 'fa4943ea9e7c5cb3'],
  ['RegistryEvent', RegistryEvent, 1, 'b30a986a1a909885'],
  ['StoredIdempotencyRecord', StoredIdempotencyRecord, 1, '5d37428b7cbbe944'],
  ['StoredAuditCall', StoredAuditCall, 1, '31e20ca4305daf04'],
  ['StoredAuditOutcome', StoredAuditOutcome, undefined, 'e34bfc6ce2f4ea66'],
  ['StoredChallenge', StoredChallenge, 2, '3e084c1697e980c1'],
  ['StoredEvaluation', StoredEvaluation, 1, 'c5fbe10da272d804'],
  ['StoredTrade', StoredTrade, 1, '784c1e0436d64ce6'],
  ['StoredAssignment', StoredAssignment, 1, '63a98ca794b70395'],
  ['ChallengeEvent', ChallengeEvent, 2, '3c9c94707ef70f4b'],
  ['StoredSignals', StoredSignals, 1, '8f96d40e2dc4511e'],
  ['StoredWebhook', StoredWebhook, 1, 'c999de4e7dd0c909'],
  ['StoredDelivery', StoredDelivery, 1, '73c567925616c005'],
  ['CatalogRow', CatalogRow, undefined, '09bc7ed6151c88e4'],
])('stored shape of %s equals its pinned hash', (_, schema, version, hash) => {
  expect({ version: versionOf(schema), hash: shapeHash(schema) }).toEqual({ version, hash });
});

function versionOf(schema: z.ZodType): unknown {
  const option = schema instanceof z.ZodDiscriminatedUnion ? schema.options[0]! : schema;
  const version = (option as z.ZodObject).shape.schema_version as z.ZodLiteral | undefined;
  return version?.value;
}

function shapeHash(schema: z.ZodType): string {
  const shape = JSON.stringify(z.toJSONSchema(schema, { io: 'input' }), (key, value) =>
    key === 'description' || key === 'x-unit' ? undefined : value,
  );
  return createHash('sha256').update(shape).digest('hex').slice(0, 16);
}
