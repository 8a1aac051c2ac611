import { spawn } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { LocalEnv } from '#contract/env/env.ts';
import { CLI_LIMITS } from '#contract/values/request-limits.ts';
import { ANONYMOUS_ID, isOwnPrincipal } from '#domain/access/own-principals.ts';
import { readEnv } from '#runtime/env.ts';
import { accessClaims, openIssuerKey, signToken, type TokenOptions } from '../../src/local/issuer-key.ts';
import { boundsText, integer, JSON_OPTION } from './options.ts';
import { runningPlatform } from './session.ts';

const { token_minutes: TOKEN_MINUTES } = CLI_LIMITS;

interface TokenFlags extends Pick<TokenOptions, 'role' | 'user'> {
  readonly minutes: number;
  readonly group: readonly string[];
  readonly json?: boolean;
}

/** Commands that sign tokens with the key of this data folder. */
export function addTokenCommands(program: Command): void {
  tokenOptions(
    program
      .command('token')
      .description(
        'print a token for the platform on this data folder, for TOUCHSTONE_TOKEN (npm start -- --auth)',
      ),
    roleOption().makeOptionMandatory(),
  ).action((flags: TokenFlags) => {
    const token = tokenOf(flags);
    console.log(flags.json ? JSON.stringify({ token }) : token);
  });

  tokenOptions(
    program
      .command('open')
      .description('print the address of the dashboard, signed in with a new token where it needs one')
      .option('--browser', 'open it in the browser of this machine'),
    roleOption().default('viewer'),
  ).action(openDashboard);
}

function roleOption(): Option {
  return new Option('--role <role>', 'role of the token').choices([
    'viewer',
    'researcher',
    'approver',
    'admin',
  ]);
}

function tokenOptions(command: Command, role: Option): Command {
  return command
    .option(...JSON_OPTION)
    .addOption(role)
    .option('--user <name>', 'user of the token', userId, 'local')
    .option(
      '--group <name>',
      'group of the user; repeatable',
      (text: string, previous: string[]) => [...previous, userName(text)],
      [],
    )
    .option(
      '--minutes <n>',
      `validity, ${boundsText(TOKEN_MINUTES)}`,
      integer(TOKEN_MINUTES),
      TOKEN_MINUTES.default,
    );
}

function userId(text: string): string {
  if (text !== ANONYMOUS_ID && !isOwnPrincipal(text)) return userName(text);
  throw new InvalidArgumentError(`${text} is a name of the platform itself: pass another one`);
}

function userName(text: string): string {
  if (/^[\w.@+-]{1,128}$/.test(text)) return text;
  throw new InvalidArgumentError('Pass up to 128 letters, digits and . _ @ + -');
}

/** Token that the platform on this data folder accepts, and only that. */
function tokenOf({ role, user, minutes, group: groups }: TokenFlags): string {
  const key = openIssuerKey(readEnv(LocalEnv).TOUCHSTONE_HOME);
  return signToken(key, accessClaims({ role, user, groups, lifetime: minutes * 60, now: Date.now() }));
}

/** Prints the address of the dashboard. The token is in its fragment, which browsers send to no server. */
async function openDashboard(flags: TokenFlags & { readonly browser?: boolean }): Promise<void> {
  const { TOUCHSTONE_HOME } = readEnv(LocalEnv);
  const platform = await runningPlatform(TOUCHSTONE_HOME);
  if (!platform) {
    throw new Error(`No platform runs on ${TOUCHSTONE_HOME}. Start it: npm start, or npm start -- --auth`);
  }
  const address = `${platform.backend_url}/${platform.issuer_url ? `#token=${tokenOf(flags)}` : ''}`;
  console.log(flags.json ? JSON.stringify({ url: address }) : address);
  if (flags.browser) await openInBrowser(platform.issuer_url ? pageTo(address, TOUCHSTONE_HOME) : address);
}

/**
 * Address of a page that leads to another address: every account of the computer can read the arguments of the program that opens a
 * browser, but not the data folder. That folder has the key of all tokens too, so the page says nothing more to who can read it. The
 * next one replaces it.
 */
function pageTo(address: string, home: string): string {
  const path = resolve(home, 'open.html');
  rmSync(path, { force: true });
  const page = `<!doctype html><meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0; url=${address}">`;
  writeFileSync(path, page, { mode: 0o600, flag: 'wx' });
  return pathToFileURL(path).href;
}

const OPENERS: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ['open'],
  linux: ['xdg-open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

async function openInBrowser(address: string): Promise<void> {
  const [command, ...args] = OPENERS[process.platform] ?? ['xdg-open'];
  const child = spawn(command, [...args, address], { stdio: 'ignore', detached: true });
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', () =>
      reject(
        new Error(`No browser could be opened: ${command} is missing. Open the printed address yourself`),
      ),
    );
  });
  child.unref();
}
