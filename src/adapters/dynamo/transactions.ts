import { setTimeout as wait } from 'node:timers/promises';
import {
  ConditionalCheckFailedException,
  TransactionCanceledException,
  TransactionConflictException,
} from '@aws-sdk/client-dynamodb';
import {
  type DynamoDBDocumentClient,
  TransactWriteCommand,
  type TransactWriteCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { CodedError, type ErrorCode } from '#contract/values/errors.ts';

export type Action = NonNullable<TransactWriteCommandInput['TransactItems']>[number];

type BusyCode = Extract<ErrorCode, 'SVC005' | 'DATA005'>;

/** Cancellation reason: another write of one of the items is in progress. */
const CONFLICT = 'TransactionConflict';
/** Cancellation reasons of throttling. */
const BUSY = new Set(['ThrottlingError', 'ProvisionedThroughputExceeded']);
/** Attempts of a transaction. The backoffs between them grow from 0.02 to 0.32 s, up to 0.62 s in total. */
const ATTEMPTS = 6;

/**
 * Error of a transaction cancelled by a failed condition or a concurrent write: the caller may read and decide again.
 * Rethrows any other error; throttling becomes a CodedError of `busy`.
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
  /** Idempotency token. Default: the SDK makes one per attempt. */
  readonly token?: string;
  /** Called on a conflict with the indexes of the actions whose condition failed. */
  readonly onConflict?: (failed: readonly number[]) => void;
  /** True when the cancelled transaction had been applied by an attempt whose response was lost. */
  readonly isAlreadyApplied?: (error: TransactionCanceledException) => boolean;
}

/**
 * TransactWriteItems with backoff. Returns `conflict` when a condition fails, or when other transactions still hold the
 * items after the last attempt.
 */
export async function transact(
  client: DynamoDBDocumentClient,
  actions: readonly Action[],
  busy: BusyCode,
  { attempts = ATTEMPTS, token, onConflict, isAlreadyApplied = () => false }: TransactOptions = {},
): Promise<'done' | 'conflict'> {
  const input = { ClientRequestToken: token, TransactItems: [...actions] };
  for (let attempt = 1; ; attempt++) {
    try {
      await client.send(new TransactWriteCommand(input));
      return 'done';
    } catch (error) {
      const conflict = conflictOf(error, busy);
      if (isAlreadyApplied(conflict)) return 'done';
      const failed = failedConditions(conflict);
      if (failed.length > 0 || attempt >= attempts) {
        onConflict?.(failed);
        return 'conflict';
      }
      await backOff(attempt);
    }
  }
}

/** Retries the write of one item while a transaction changes the item. */
export async function retryOnConflict<T>(write: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await write();
    } catch (error) {
      if (attempt === ATTEMPTS || !(error instanceof TransactionConflictException)) throw error;
      await backOff(attempt);
    }
  }
}

function backOff(attempt: number): Promise<void> {
  return wait(10 * 2 ** attempt * (0.5 + Math.random() / 2));
}

function failedConditions(error: TransactionCanceledException): number[] {
  return reasonsOf(error).flatMap((code, index) => (code === 'ConditionalCheckFailed' ? [index] : []));
}

function reasonsOf(error: TransactionCanceledException): string[] {
  return (error.CancellationReasons ?? []).map(({ Code = 'None' }) => Code);
}

/** True when the write was done, false when its condition failed. */
export async function unlessConditionFails(write: Promise<unknown>): Promise<boolean> {
  try {
    await write;
    return true;
  } catch (error) {
    if (error instanceof ConditionalCheckFailedException) return false;
    throw error;
  }
}
