/** Bounds of a number, both included unless `aboveMin` or `belowMax` excludes one. */
export interface NumberBounds {
  readonly min: number;
  readonly max: number;
  readonly aboveMin?: boolean;
  readonly belowMax?: boolean;
  readonly integer?: boolean;
}

/** JSON Schema keywords of bounds. */
export function bounds({ min, max, aboveMin, belowMax }: NumberBounds) {
  return {
    ...(aboveMin ? { exclusiveMinimum: min } : { minimum: min }),
    ...(belowMax ? { exclusiveMaximum: max } : { maximum: max }),
  };
}
