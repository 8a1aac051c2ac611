import { AsyncLocalStorage } from 'node:async_hooks';

/** What belongs to the request or task being worked on, wherever in the call tree. */
export interface RequestContext {
  readonly correlationId: string;
}

const storage = new AsyncLocalStorage<RequestContext>();

/** Runs `work` so that everything it logs carries the correlation id. */
export function runInContext<T>(context: RequestContext, work: () => T): T {
  return storage.run(context, work);
}

/** Undefined outside a request. */
export function currentContext(): RequestContext | undefined {
  return storage.getStore();
}
