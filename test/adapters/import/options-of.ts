/** Options of the command as its parser returns them. */
export function optionsOf(text: string): Record<string, string | boolean> {
  const options = [...text.matchAll(/--([a-z-]+)(?: (?!--)(\S+))?/g)];
  return Object.fromEntries(
    options.map(([, name, value]) => [
      name!.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      value ?? true,
    ]),
  );
}
