import type { Command } from 'commander';
import { InvalidArgumentError } from 'commander';
import { given, LIMIT } from './options.ts';
import { EXPERIMENT, STATUS } from './run-options.ts';
import type { ProgramOptions } from './session.ts';

/** Short names of orders. Any other name of the API is passed on. */
const SORTS: Readonly<Record<string, string>> = {
  sharpe: 'sharpe_ratio',
  sortino: 'sortino_ratio',
  calmar: 'calmar_ratio',
  profit: 'total_profit_pct',
  drawdown: 'max_drawdown_pct',
  trades: 'total_trades',
  deflated: 'deflated_sharpe_ratio',
};

/** Options of a command that lists jobs. */
export interface JobListOptions {
  readonly status?: string;
  readonly experiment?: string;
  readonly strategy?: string;
  readonly owner?: string;
  readonly exchange?: string;
  readonly tag?: string;
  readonly lookAhead?: string;
  readonly param: Readonly<Record<string, string>>;
  readonly sort?: string;
  readonly asc?: boolean;
  readonly limit: number;
  readonly json?: boolean;
}

/** Adds the filters and orders of lists. @param sorts orders for the help */
export function addListOptions(command: Command, sorts: string): Command {
  return command
    .addOption(STATUS())
    .option(...EXPERIMENT)
    .option('--session <name>', 'only jobs of this session; TOUCHSTONE_SESSION does not filter')
    .option('--strategy <name>', 'only jobs of this strategy')
    .option('--owner <user>', 'only jobs of this user')
    .option('--exchange <name>', 'only jobs on this exchange')
    .option('--tag <tag>', 'only jobs with this tag')
    .option('--look-ahead <state>', 'only certified, sampled, not_checked or found jobs')
    .option('--param <name=value>', 'only jobs with this value of a parameter, repeatable', namedText, {})
    .option(
      '--sort <by>',
      `${sorts}, strategy, owner, exchange, session, look_ahead or params.<name>; highest first`,
    )
    .option('--asc', 'lowest first')
    .option(...LIMIT);
}

/** Query of a list. The program's option --session filters where it was typed, not where the environment sets it. */
export function listQueryOf(program: Command, options: JobListOptions): string {
  const { limit, status, experiment, strategy, owner, exchange, tag, lookAhead, param, sort, asc } = options;
  const isTyped = program.getOptionValueSource('session') === 'cli';
  const fields = given({
    limit,
    status,
    experiment_name: experiment,
    session: isTyped ? program.opts<ProgramOptions>().session : undefined,
    strategy,
    owner,
    exchange,
    tag,
    look_ahead: lookAhead,
    sort: sort && Object.hasOwn(SORTS, sort) ? SORTS[sort] : sort,
    sort_order: asc ? 'asc' : undefined,
  });
  const query = new URLSearchParams(fields as Record<string, string>);
  for (const [name, value] of Object.entries(param)) query.append(`params.${name}`, value);
  return query.toString();
}

/** Adds one `name=value`, the value as it was typed. */
function namedText(text: string, previous: Readonly<Record<string, string>>): Record<string, string> {
  const at = text.indexOf('=');
  if (at <= 0) throw new InvalidArgumentError('Pass name=value, such as fast=10.');
  return { ...previous, [text.slice(0, at)]: text.slice(at + 1) };
}

/** Parameters that a table has room for. */
const MAX_COLUMNS = 4;

/** The first parameters, by name, that are not the same in all of the listed jobs. */
export function varyingParams(listed: readonly Readonly<Record<string, unknown>>[]): string[] {
  const names = [...new Set(listed.flatMap((params) => Object.keys(params)))].sort();
  return names.filter((name) => new Set(listed.map((params) => params[name])).size > 1).slice(0, MAX_COLUMNS);
}
