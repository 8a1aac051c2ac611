import type { FuzzOperation } from './document.ts';
import type { SeededRandom } from './seeded-random.ts';
import type { Role, Tokens } from './target.ts';

/** The second user owns less and sends this share of the requests. */
const USERS = ['ann', 'bob'] as const;
const BOBS_SHARE = 0.2;

/** Sender of a request and the expected status. */
export interface Caller {
  /** True if the token suffices. */
  readonly trusted: boolean;
  /** The only allowed status. */
  readonly only?: number;
  readonly authorization?: string;
  /** Shell expression that creates the same token. */
  readonly again?: string;
}

/** Callers of a platform. Without tokens every caller is the same. */
export class Callers {
  readonly #tokens: Tokens | null;

  constructor(tokens: Tokens | null) {
    this.#tokens = tokens;
  }

  choose(operation: FuzzOperation, kind: string, random: SeededRandom): Caller {
    const tokens = this.#tokens;
    if (!tokens) return { trusted: true };
    const user = USERS[random.bool(BOBS_SHARE) ? 1 : 0];
    switch (kind) {
      case 'no token':
        return { trusted: false, only: 401 };
      case 'bad token':
        return { trusted: false, only: 401, authorization: random.pick(tokens.bad) };
      case 'low role':
        return {
          trusted: false,
          only: 403,
          ...shown(tokens, random.pick(tokens.tooLow(operation.role)), user),
        };
      // These may address an operation that needs a higher role.
      case 'path':
      case 'method':
        return { trusted: true, ...shown(tokens, 'admin', user) };
      default:
        return { trusted: true, ...shown(tokens, random.pick(tokens.enough(operation.role)), user) };
    }
  }

  adminHeaders(): Record<string, string> {
    return this.#tokens ? { Authorization: `Bearer ${this.#tokens.of('admin', USERS[0])}` } : {};
  }
}

function shown(tokens: Tokens, role: Role, user: string): Pick<Caller, 'authorization' | 'again'> {
  return {
    authorization: `Bearer ${tokens.of(role, user)}`,
    again: `Bearer $(npx --no-install touchstone token --role ${role} --user ${user})`,
  };
}
