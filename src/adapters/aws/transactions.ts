import { setTimeout as wait } from 'node:timers/promises';
import { TransactionCanceledException, TransactionConflictException } from '@aws-sdk/client-dynamodb';
import {
  type DynamoDBDocumentClient,
  TransactWriteCommand,
  type TransactWriteCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { CodedError, type ErrorCode } from '#contract/errors.ts';

export type Action = NonNullable<TransactWriteCommandInput['TransactItems']>[number];

type BusyCode = Extract<ErrorCode, 'SVC005' | 'DATA005'>;

/** Why it was cancelled: another transaction, or another write, of one of its items was under way. */
const CONFLICT = 'TransactionConflict';
/** Why it was cancelled that may succeed later as it is. */
const BUSY = new Set(['ThrottlingError', 'ProvisionedThroughputExceeded']);
/** Pauses of 0.02 to 0.32 s between them, 0.62 s in all at most. */
const ATTEMPTS = 6;

/**
 * The error of a transaction cancelled by a failed condition or a concurrent write: the caller may decide again.
 * Any other error is thrown on, one of a table that is too busy as `busy`.
 */
export function conflictOf(error: unknown, busy: BusyCode): TransactionCanceledException {
  if (!(error instanceof TransactionCanceledException)) throw error;
  const codes = reasonsOf(error);
  if (codes.includes('ConditionalCheckFailed') || codes.includes(CONFLICT)) return error;
  throw codes.some((code) => BUSY.has(code)) ? new CodedError(busy, { cause: error }) : error;
}

interface TransactOptions {
  /** Default 6. */
  readonly attempts?: number;
  /** Default: one of the SDK for each attempt. */
  readonly token?: string;
  /** True when the cancelled transaction had been applied by an attempt whose response was lost. */
  readonly isAlreadyApplied?: (error: TransactionCanceledException) => boolean;
}

/** TransactWriteItems with backoff. Returns `conflict` when a condition fails or other transactions hold the items after 6 attempts. */
export async function transact(
  client: DynamoDBDocumentClient,
  actions: readonly Action[],
  busy: BusyCode,
  { attempts = ATTEMPTS, token, isAlreadyApplied = () => false }: TransactOptions = {},
): Promise<'done' | 'conflict'> {
  const input = { ClientRequestToken: token, TransactItems: [...actions] };
  for (let attempt = 1; ; attempt++) {
    try {
      await client.send(new TransactWriteCommand(input));
      return 'done';
    } catch (error) {
      const conflict = conflictOf(error, busy);
      if (isAlreadyApplied(conflict)) return 'done';
      const isFinal = reasonsOf(conflict).includes('ConditionalCheckFailed');
      if (isFinal || attempt >= attempts) return 'conflict';
      await pause(attempt);
    }
  }
}

/** A write of one item that waits for transactions that are changing it. */
export async function retryOnConflict<T>(write: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await write();
    } catch (error) {
      if (attempt === ATTEMPTS || !(error instanceof TransactionConflictException)) throw error;
      await pause(attempt);
    }
  }
}

function pause(attempt: number): Promise<void> {
  return wait(10 * 2 ** attempt * (0.5 + Math.random() / 2));
}

function reasonsOf(error: TransactionCanceledException): string[] {
  return (error.CancellationReasons ?? []).map(({ Code = 'None' }) => Code);
}
