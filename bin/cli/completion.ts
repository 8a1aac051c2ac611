import { resolve } from 'node:path';
import { type Argument, type Command, InvalidArgumentError, type Option } from 'commander';
import { TIMEFRAMES } from '#contract/values/timeframes.ts';
import { LAST } from './jobs.ts';
import { UsageError } from './options.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

/** Hidden command that a shell calls at each Tab. */
const COMPLETE = '__complete';

/** Commands that complete the command line of a shell. `all` makes a program with every command. */
export function addCompletionCommands(program: Command, all: () => Promise<Command>): void {
  program
    .command('completion')
    .description('print a script that completes commands, options and strategies in a shell')
    .argument('<shell>', SHELLS.join(', '), shell)
    .option('--json', 'print JSON: the script')
    .action((name: Shell, { json }: { json?: boolean }) => {
      const script = SCRIPTS[name](`${quoted(process.execPath)} ${quoted(resolve(process.argv[1]!))}`);
      console.log(json ? JSON.stringify({ shell: name, script }) : script);
    });
  program
    .command(COMPLETE, { hidden: true })
    .argument('[words...]')
    .allowUnknownOption()
    .helpOption(false)
    .action(async (words: string[]) => {
      const candidates = await completions(await all(), words);
      console.log(candidates.join('\n'));
    });
}

function shell(text: string): Shell {
  const found = SHELLS.find((each) => each === text);
  if (found) return found;
  throw new InvalidArgumentError(`Pass ${SHELLS.join(', ')}.`);
}

/** A word that every shell reads as one. @throws UsageError for a quote, which shells escape differently */
function quoted(path: string): string {
  if (path.includes("'")) throw new UsageError(`The path ${path} has a quote, which the script cannot name.`);
  return `'${path}'`;
}

/**
 * Scripts that ask the program at each Tab: it always knows its own commands, and the strategies of the folder. Bash breaks words at
 * colons and equals signs, so its script reads the line, and returns what follows the last of these signs.
 */
const SCRIPTS: Readonly<Record<Shell, (program: string) => string>> = {
  bash: (program) => `# eval "$(touchstone completion bash)"
_touchstone() {
  local line="\${COMP_LINE:0:COMP_POINT}" current kept candidate
  local -a words
  read -r -a words <<< "$line"
  [[ "$line" == *[[:space:]] ]] && words+=('')
  current="\${words[\${#words[@]}-1]}"
  kept="\${current%"\${current##*[=:]}"}"
  COMPREPLY=()
  while IFS= read -r candidate; do
    [[ -n "$candidate" ]] && COMPREPLY+=("\${candidate#"$kept"}")
  done < <(${program} ${COMPLETE} -- "\${words[@]:1}" 2>/dev/null)
}
complete -o default -F _touchstone touchstone`,
  zsh: (program) => `# eval "$(touchstone completion zsh)"
whence compdef >/dev/null || { autoload -Uz compinit && compinit }
_touchstone() {
  local -a found
  found=(\${(f)"$(${program} ${COMPLETE} -- "\${(@)words[2,CURRENT]}" 2>/dev/null)"})
  compadd -a found
}
compdef _touchstone touchstone`,
  fish: (program) => `# touchstone completion fish | source
function __touchstone_complete
  set -l words (commandline -opc)
  ${program} ${COMPLETE} -- $words[2..] (commandline -ct) 2>/dev/null
end
complete -c touchstone -f -a '(__touchstone_complete)'`,
};

/** Candidates for the last word. */
async function completions(program: Command, words: readonly string[]): Promise<string[]> {
  const current = words.at(-1) ?? '';
  const { command, position, option } = walk(program, words.slice(0, -1));
  if (option) return matching(current, valuesOfOption(option));
  const [, long, value = ''] = /^(--[^=]+)=(.*)$/.exec(current) ?? [];
  if (long) {
    const named = optionOf(program, command, long);
    return named ? matching(value, valuesOfOption(named)).map((each) => `${long}=${each}`) : [];
  }
  if (current.startsWith('-')) return matching(current, optionsOf(command));
  const argument = command.registeredArguments[position] ?? command.registeredArguments.findLast(isVariadic);
  const subcommands = position === 0 ? command.createHelp().visibleCommands(command) : [];
  return matching(current, [
    ...subcommands.map((each) => each.name()),
    ...(argument ? await valuesOf(argument) : []),
  ]);
}

const isVariadic = ({ variadic }: Argument) => variadic;

const matching = (current: string, candidates: readonly string[]) =>
  candidates.filter((each) => each.startsWith(current));

/** The command that the words name, the number of its arguments among them, and the option whose value comes next. */
function walk(program: Command, words: readonly string[]) {
  let command = program;
  let position = 0;
  let option: Option | undefined;
  for (const word of words) {
    if (option) option = undefined;
    else if (word.startsWith('-')) {
      const named = optionOf(program, command, word);
      option = named?.required ? named : undefined;
    } else {
      const sub = position === 0 ? command.commands.find((each) => each.name() === word) : undefined;
      if (sub) command = sub;
      else position++;
    }
  }
  return { command, position, option };
}

const optionOf = (program: Command, command: Command, name: string): Option | undefined =>
  [...command.options, ...program.options].find(({ long }) => long === name);

function optionsOf(command: Command): string[] {
  return command
    .createHelp()
    .visibleOptions(command)
    .flatMap(({ long }) => long ?? []);
}

const valuesOfOption = ({ long, argChoices = [] }: Option): readonly string[] =>
  long === '--timeframe' ? TIMEFRAMES : argChoices;

/** Known values of an argument: shells, strategies, and the newest backtest where a command takes it. */
async function valuesOf(argument: Argument): Promise<readonly string[]> {
  const name = argument.name();
  if (name === 'shell') return SHELLS;
  if (argument.description.includes(`or ${LAST}`)) return [LAST];
  if (!['strategy', 'strategy|file', 'model'].includes(name)) return [];
  const { strategyNames } = await import('./strategy/strategy-file.ts');
  return strategyNames();
}
