import type { Definition } from '../../support/run-asl.ts';

interface Transition {
  readonly from: string;
  readonly to: string;
  /** States of the same level: a Map's iteration is a level of its own. */
  readonly level: ReadonlySet<string>;
}

/** Fields of a state that lead to another one. */
interface Leading {
  readonly Next?: string;
  readonly Default?: string;
  readonly Choices?: readonly { readonly Next: string }[];
  readonly Catch?: readonly { readonly Next: string }[];
}

/** Every way from one state to another: Next, choices, defaults and catchers, also within Maps. */
export function transitionsOf({ States }: Pick<Definition, 'States'>): Transition[] {
  const level = new Set(Object.keys(States));
  return Object.entries(States).flatMap(([from, state]) => {
    const { Next, Default, Choices = [], Catch = [] } = state as Leading;
    const targets = [Next, Default, ...[...Choices, ...Catch].map((each) => each.Next)];
    const own = [...new Set(targets)].flatMap((to) => (to === undefined ? [] : [{ from, to, level }]));
    return state.ItemProcessor ? [...own, ...transitionsOf(state.ItemProcessor)] : own;
  });
}

/** Transitions that the paths take, as `from > to`. */
export function transitionsTaken(
  all: readonly Transition[],
  paths: readonly (readonly string[])[],
): Set<string> {
  const taken = new Set<string>();
  for (const path of paths) {
    for (const level of new Set(all.map((each) => each.level))) {
      const entered = path.filter((state) => level.has(state));
      entered.slice(1).forEach((to, index) => {
        taken.add(`${entered[index]} > ${to}`);
      });
    }
  }
  return taken;
}
