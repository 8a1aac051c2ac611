import type { ErrorCode } from './errors.ts';

/** Owner and grants of a resource: the same for every kind of resource. */

/** Levels of a grant: read, or read and change. The roles of the caller limit it further. */
export const SHARE_LEVELS = ['read', 'write'] as const;
type ShareLevel = (typeof SHARE_LEVELS)[number];

/** Access that an operation needs. Only `owner` may change grants; an admin may do everything. */
export type AccessLevel = ShareLevel | 'owner';

/** Principal of every caller with a valid token, in a grant. */
export const EVERYONE = 'everyone';

/** Names of users and groups, as in user pools. They are part of table keys, whose length is limited. */
export const PRINCIPAL_NAME = /^[\p{L}\p{M}\p{S}\p{N}\p{P}]{1,128}$/u;

/**
 * Principal of a grant, as in the OpenAPI document. Without spaces, control and direction characters; the syntax means the
 * same in regular expressions of other languages.
 */
export const PRINCIPAL =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is kept out
  /^(everyone|(user|group):[^\s\x00-\x1F\x7F-\x9F\u200B-\u200F\u2028-\u202E\u2060-\u206F\uFEFF]{1,128})$/u;

/** Characters of a principal, as texts count them: a letter beyond the 65,536 first characters of Unicode is two. */
export const MAX_PRINCIPAL_LENGTH = 'group:'.length + 2 * 128;

/** Maximum grants per resource: each is an item of the access index, and all change in one transaction. */
export const MAX_GRANTS = 40;

interface OwnedKind {
  /** Name in messages. */
  readonly noun: string;
  /** Code for an unknown ID. */
  readonly unknown: ErrorCode;
  /** Code when its storage is down. */
  readonly unavailable: ErrorCode;
  /** True: it may expire, and is RES006 for a while then. */
  readonly expires?: true;
}

/** Kinds of resources that have an owner. */
export const OWNED_RESOURCES = {
  backtest: { noun: 'backtest', unknown: 'RES001', unavailable: 'DATA005', expires: true },
  model: { noun: 'model', unknown: 'RES002', unavailable: 'SVC005' },
  hyperopt: { noun: 'hyperopt job', unknown: 'OPT001', unavailable: 'DATA005', expires: true },
  challenge: { noun: 'challenge', unknown: 'CHL001', unavailable: 'SVC005' },
  approval: { noun: 'request for approval', unknown: 'APR001', unavailable: 'SVC005' },
  signals: { noun: 'file of signals', unknown: 'SIG001', unavailable: 'DATA005' },
  webhook: { noun: 'webhook', unknown: 'HOOK001', unavailable: 'DATA005' },
} as const satisfies Record<string, OwnedKind>;
export type ResourceKind = keyof typeof OWNED_RESOURCES;

/** Resource in a path. A caller without the access gets AUTH005 before the handler runs. */
export interface NamedResource {
  readonly kind: ResourceKind;
  /** Path variable with its id. */
  readonly id: string;
  readonly level: AccessLevel;
  /** Readers of a model may call it on the backtests of its versions: they are the evidence of what was released. */
  readonly evidence?: true;
}
