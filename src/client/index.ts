/** Client of the services: typed by the operations table, by `fetch` only. docs/clients.md is its guide. */
export type { ErrorCode } from '#contract/values/errors.ts';
export type { Call, FileCall, InputOf, Stream, StreamEvent } from './call.ts';
export {
  type Address,
  type CallOptions,
  type Connection,
  type ConnectOptions,
  connect,
} from './connection.ts';
export {
  AccessError,
  AuthenticationError,
  type BodyIssue,
  ConflictError,
  DataError,
  ExpiredError,
  NotFoundError,
  RateLimitError,
  TouchstoneError,
  UnavailableError,
  ValidationError,
} from './errors.ts';
export * from './operations.ts';
export { items, type Paged, pages } from './pages.ts';
export { uploadSignals } from './signals.ts';
export { type WaitOptions, waitFor } from './wait.ts';
