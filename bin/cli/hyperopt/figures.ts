/** A number of any size in five digits; `-` for null. */
export function figure(value: number | null): string {
  return value === null ? '-' : String(Number(value.toPrecision(5)));
}

/** `name value` pairs of a trial's parameters. */
export function parametersText(params: Readonly<Record<string, number | string | boolean>>): string {
  return Object.entries(params)
    .map(([name, value]) => `${name} ${typeof value === 'number' ? figure(value) : value}`)
    .join(', ');
}
