/** Groups of tools that a server offers, by the tags of their operations. Every definition takes room in the context of a model. */
const TOOL_GROUPS = {
  backtests: ['Overview', 'Strategies', 'Backtests', 'Access'],
  hyperopt: ['Hyperopt', 'Experiments'],
  registry: ['Registry', 'Catalog', 'Approvals'],
  challenges: ['Challenges'],
  data: ['Market data', 'Series', 'Collections'],
} as const satisfies Readonly<Record<string, readonly string[]>>;
export type ToolGroup = keyof typeof TOOL_GROUPS;
export const GROUP_NAMES = Object.keys(TOOL_GROUPS) as readonly ToolGroup[];

/** Group of an operation, by its tag. */
export function groupOf(tag: string): ToolGroup | undefined {
  return GROUP_NAMES.find((name) => (TOOL_GROUPS[name] as readonly string[]).includes(tag));
}
