import type { Point, SearchSpace } from '#engine/search/space.ts';

/**
 * A function to minimize, with results of Optuna 5.0.0 (optuna-reference.py): median of the best value after 100 sequential
 * trials. Over 1,000 seeds, TPE on Rastrigin over 2,000; random search on Rastrigin, Rosenbrock and Ackley over 200.
 */
export interface TestFunction {
  readonly name: string;
  readonly space: SearchSpace;
  readonly minimize: (point: Point) => number;
  /** Random search. */
  readonly random: number;
  /** Optuna's default TPE (joint, constant liar). */
  readonly reference: number;
  /** Standard error of `reference`. */
  readonly referenceError: number;
}

/** Test function of numbers over a cube. */
function overCube(
  name: string,
  dimensions: number,
  [min, max]: readonly [number, number],
  of: (x: readonly number[]) => number,
  [random, reference, referenceError]: readonly [number, number, number],
): TestFunction {
  const space = Array.from({ length: dimensions }, (_, i) => ({
    kind: 'float' as const,
    name: `x${i}`,
    min,
    max,
  }));
  const minimize = (point: Point) => of(space.map(({ name }) => point[name] as number));
  return { name, space, minimize, random, reference, referenceError };
}

const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0);
const { PI, cos, exp, log, sqrt } = Math;

/** Branin function (Picheny et al.), with both inputs scaled to the unit interval. */
function branin(u: readonly number[]): number {
  const x = -5 + 15 * u[0]!;
  const y = 15 * u[1]!;
  const bent = y - (5.1 / (4 * PI * PI)) * x * x + (5 / PI) * x - 6;
  return bent * bent + 10 * (1 - 1 / (8 * PI)) * cos(x) + 10;
}

const HARTMANN_ALPHA = [1, 1.2, 3, 3.2];
const HARTMANN_A = [
  [10, 3, 17, 3.5, 1.7, 8],
  [0.05, 10, 17, 0.1, 8, 14],
  [3, 3.5, 1.7, 10, 17, 8],
  [17, 8, 0.05, 10, 0.1, 14],
];
const HARTMANN_P = [
  [0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886],
  [0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991],
  [0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.665],
  [0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381],
];

function hartmann(x: readonly number[]): number {
  return -sum(
    HARTMANN_ALPHA.map(
      (alpha, i) => alpha * exp(-sum(x.map((v, j) => HARTMANN_A[i]![j]! * (v - HARTMANN_P[i]![j]!) ** 2))),
    ),
  );
}

function ackley(x: readonly number[]): number {
  const spread = sqrt(sum(x.map((v) => v * v)) / x.length);
  return -20 * exp(-0.2 * spread) - exp(sum(x.map((v) => cos(2 * PI * v))) / x.length) + 20 + Math.E;
}

/** Similar to the search of a model: one choice, one integer and one rate. The product of both numbers matters. */
const MIXED: TestFunction = {
  name: 'mixed',
  space: [
    { kind: 'categorical', name: 'type', choices: ['a', 'b', 'c'] },
    { kind: 'int', name: 'n', min: 50, max: 500 },
    { kind: 'float', name: 'rate', min: 0.001, max: 0.3, log: true },
  ],
  minimize({ type, n, rate }) {
    const kind = ['a', 'b', 'c'].indexOf(type as string);
    const off = log(((n as number) * (rate as number)) / [8, 12, 16][kind]!);
    return [0, 0.03, 0.06][kind]! + 0.25 * off * off + 0.05 * (((n as number) - 300) / 250) ** 2;
  },
  random: 0.00879,
  reference: 0.0002117,
  referenceError: 0.00001,
};

export const TEST_FUNCTIONS: readonly TestFunction[] = [
  overCube('sphere, 5-D', 5, [-5, 5], (x) => sum(x.map((v) => v * v)), [7.135, 0.2409, 0.0037]),
  overCube('Branin', 2, [0, 1], branin, [0.7529, 0.4204, 0.0011]),
  overCube('Hartmann-6', 6, [0, 1], hartmann, [-2.029, -3.179, 0.0048]),
  overCube(
    'Rosenbrock, 4-D',
    4,
    [-2, 2],
    (x) => sum(x.slice(1).map((v, i) => 100 * (v - x[i]! ** 2) ** 2 + (1 - x[i]!) ** 2)),
    [33.9, 3.538, 0.1],
  ),
  overCube('Ackley, 5-D', 5, [-32.8, 32.8], ackley, [17.43, 6.532, 0.11]),
  overCube(
    'Rastrigin, 5-D',
    5,
    [-5.12, 5.12],
    (x) => sum(x.map((v) => v * v - 10 * cos(2 * PI * v) + 10)),
    [38.33, 27.07, 0.26],
  ),
  MIXED,
];
