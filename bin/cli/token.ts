import { InvalidArgumentError } from 'commander';
import { LocalEnv } from '#contract/env.ts';
import { readEnv } from '#runtime/env.ts';
import { accessClaims, openIssuerKey, signToken, type TokenOptions } from '../../src/local/issuer-key.ts';

/** A name as user pools have them. */
export function userName(text: string): string {
  if (/^[\w.@+-]{1,128}$/.test(text)) return text;
  throw new InvalidArgumentError('It takes letters, digits and . _ @ + -, at most 128.');
}

/** One name of a group more. */
export function groupName(text: string, previous: readonly string[]): string[] {
  return [...previous, userName(text)];
}

/** Prints a token that the platform on this data folder accepts, and nothing else. */
export function printToken(
  options: Pick<TokenOptions, 'role' | 'user'> & {
    readonly minutes: number;
    /** Option --group. */
    readonly group: readonly string[];
  },
): void {
  const { role, user, minutes, group: groups } = options;
  const key = openIssuerKey(readEnv(LocalEnv).TOUCHSTONE_HOME);
  console.log(signToken(key, accessClaims({ role, user, groups, lifetime: minutes * 60, now: Date.now() })));
}
