import OPERATIONS_BY_ID from 'virtual:operations';
import type { Query, QueryClient } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import { ApiError, type OperationId } from './client.ts';

/** Whether the platform answers. */
export interface Connection {
  /** Message of the newest call without an answer; undefined while every service answers. */
  readonly silence: string | undefined;
  /** Time of the last answer, ms; undefined before the first. */
  readonly lastAnswer: number | undefined;
}

let connection: Connection = { silence: undefined, lastAnswer: undefined };
const silent = new Set<string>();
const listeners = new Set<() => void>();

/** True for a call to which no answer came. */
export function isSilence(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status === 0;
}

/** Notes whether the service of a query has answered: with data, or with an error of its own. */
export function noteConnection({ queryKey: [id] }: Query<unknown, unknown>, error?: unknown): void {
  // Most keys begin with their operation; those that read several begin with another word.
  const service = OPERATIONS_BY_ID[id as OperationId]?.[0];
  if (service === undefined) return;
  if (isSilence(error)) silent.add(service);
  else silent.delete(service);
  const silence = isSilence(error) ? error.message : silent.size > 0 ? connection.silence : undefined;
  // While every service answers nobody shows when.
  const isSame = silence === undefined && connection.silence === undefined;
  connection = { silence, lastAnswer: isSilence(error) ? connection.lastAnswer : Date.now() };
  if (!isSame) for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useConnection(): Connection {
  return useSyncExternalStore(subscribe, () => connection);
}

/** Loads again what the pages in view lack because no answer came. */
export function loadUnanswered(client: QueryClient): void {
  void client.refetchQueries({ type: 'active', predicate: ({ state }) => isSilence(state.error) });
}
