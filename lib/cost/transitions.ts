/** State of an ASL definition, with what decides the path and the cost. */
export interface State {
  readonly Type: string;
  readonly Resource?: string;
  // biome-ignore lint/suspicious/noExplicitAny: the parameters depend on the resource.
  readonly Parameters?: Readonly<Record<string, any>>;
  readonly Next?: string;
  readonly Default?: string;
  readonly Choices?: readonly { readonly Next: string }[];
  readonly ItemProcessor?: Definition;
}

export interface Definition {
  readonly StartAt: string;
  readonly States: Readonly<Record<string, State>>;
}

/**
 * States that an execution enters. A Choice takes the branch that `choices` names, else its default. A Map enters the states
 * of one item.
 *
 * @throws Error if a state or branch does not exist, or the path enters a state twice
 */
export function statesOf(definition: Definition, choices: Readonly<Record<string, string>>): State[] {
  const entered = new Map<string, State[]>();
  for (let name: string | undefined = definition.StartAt; name !== undefined; ) {
    if (entered.has(name)) throw new Error(`The path of an execution enters ${name} twice`);
    const state: State | undefined = definition.States[name];
    if (!state) throw new Error(`There is no state ${name}`);
    entered.set(name, [state, ...(state.ItemProcessor ? statesOf(state.ItemProcessor, choices) : [])]);
    name = state.Type === 'Choice' ? branch(name, state, choices[name]) : state.Next;
  }
  return [...entered.values()].flat();
}

function branch(name: string, { Choices = [], Default }: State, chosen = Default): string {
  if (chosen === undefined || (chosen !== Default && !Choices.some(({ Next }) => Next === chosen))) {
    throw new Error(`${name} has no branch to ${chosen}`);
  }
  return chosen;
}

/** AWS counts the start and the end of an execution too: https://aws.amazon.com/step-functions/pricing/, example 1. */
export function transitions(states: readonly State[]): number {
  return states.length + 2;
}
