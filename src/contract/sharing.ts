import * as z from 'zod';
import type { ErrorCode } from './errors.ts';

/** Whose a resource is and whom its owner lets have it: the same for every kind of resource. */

/** What an owner can let others do: read it, or change it too. Nobody is given more than their roles allow. */
export const SHARE_LEVELS = ['read', 'write'] as const;
type ShareLevel = (typeof SHARE_LEVELS)[number];

/** What an operation does with a resource. Only `owner` may say who else gets it; an admin may do everything. */
export type AccessLevel = ShareLevel | 'owner';

/** Everybody with a valid token, among the principals of a {@link Grant}. */
export const EVERYONE = 'everyone';

export const Grant = z
  .object({
    principal: z.string().meta({ description: '`user:<id>`, `group:<name>` or `everyone`' }),
    level: z.enum(SHARE_LEVELS).meta({ description: '`write` includes `read`' }),
  })
  .meta({ id: 'Grant' });
export type Grant = z.infer<typeof Grant>;

/** What users and groups are called, as user pools have it; also in keys of tables, whose length is limited. */
export const PRINCIPAL_NAME = /^[\p{L}\p{M}\p{S}\p{N}\p{P}]{1,128}$/u;

/**
 * A principal as a sharing names it: what the OpenAPI document says and what is enforced. Without spaces, control and
 * direction characters; written so that regular expressions of other languages read it alike.
 */
export const PRINCIPAL =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is kept out
  /^(everyone|(user|group):[^\s\x00-\x1F\x7F-\x9F\u200B-\u200F\u2028-\u202E\u2060-\u206F\uFEFF]{1,128})$/u;

/** Most grants of one resource: each is a row of the list of whom it is given to, and all change in one transaction. */
export const MAX_GRANTS = 40;

interface OwnedKind {
  /** What people call one. */
  readonly noun: string;
  /** The code when there is none of an id. */
  readonly unknown: ErrorCode;
  /** The code when where they are kept is down. */
  readonly unavailable: ErrorCode;
}

/** Kinds of resources that have an owner. */
export const OWNED_RESOURCES = {
  backtest: { noun: 'backtest', unknown: 'RES001', unavailable: 'DATA005' },
  model: { noun: 'model', unknown: 'RES002', unavailable: 'SVC005' },
  hyperopt: { noun: 'hyperopt job', unknown: 'OPT001', unavailable: 'DATA005' },
  challenge: { noun: 'challenge', unknown: 'CHL001', unavailable: 'SVC005' },
} as const satisfies Record<string, OwnedKind>;
export type ResourceKind = keyof typeof OWNED_RESOURCES;

/** The resource that a path names: whoever may not do that with it is answered AUTH005 before the handler runs. */
export interface NamedResource {
  readonly kind: ResourceKind;
  /** Path variable with its id. */
  readonly id: string;
  readonly level: AccessLevel;
}

export const Sharing = z
  .object({
    owner: z.string().meta({ description: 'Id of the user who made it' }),
    shared_with: z.array(Grant).meta({ description: 'Empty: private to its owner' }),
  })
  .meta({ id: 'Sharing' });
export type Sharing = z.infer<typeof Sharing>;

export const SharingRequest = z
  .looseObject({
    shared_with: z
      .array(
        z.looseObject({
          principal: z.string().meta({
            description:
              '`user:<id>` (the `sub` of its tokens), `group:<name>` (of `cognito:groups`; roles are groups), or `everyone`',
            pattern: PRINCIPAL.source,
          }),
          level: z
            .string()
            .optional()
            .meta({ description: '`write` includes `read`', enum: [...SHARE_LEVELS], default: 'read' }),
        }),
      )
      .meta({ description: 'All who get it; whoever is not named loses it', maxItems: MAX_GRANTS }),
  })
  .meta({
    id: 'SharingRequest',
    examples: [
      { shared_with: [{ principal: 'user:ada' }, { principal: 'group:approver', level: 'write' }] },
      { shared_with: [] },
    ],
  });
