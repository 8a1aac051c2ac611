"""Reference values of test-functions.ts: the median of the best value after 100 sequential trials.

    pip install optuna==5.0.0
    python optuna-reference.py 2000 [function...]

The first argument is the number of studies of each function and sampler, with the seeds 0 and up. After each median comes its
standard error (bootstrap).
"""

import math
import random
import statistics
import sys
import warnings

import optuna

warnings.filterwarnings("ignore")
optuna.logging.set_verbosity(optuna.logging.ERROR)

ALPHA = [1, 1.2, 3, 3.2]
A = [
    [10, 3, 17, 3.5, 1.7, 8],
    [0.05, 10, 17, 0.1, 8, 14],
    [3, 3.5, 1.7, 10, 17, 8],
    [17, 8, 0.05, 10, 0.1, 14],
]
P = [
    [0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886],
    [0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991],
    [0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.665],
    [0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381],
]


def over_cube(dimensions, low, high, function):
    return lambda trial: function([trial.suggest_float(f"x{i}", low, high) for i in range(dimensions)])


def branin(u):
    x, y = -5 + 15 * u[0], 15 * u[1]
    bent = y - 5.1 / (4 * math.pi**2) * x * x + 5 / math.pi * x - 6
    return bent * bent + 10 * (1 - 1 / (8 * math.pi)) * math.cos(x) + 10


def hartmann(x):
    return -sum(
        alpha * math.exp(-sum(A[i][j] * (v - P[i][j]) ** 2 for j, v in enumerate(x)))
        for i, alpha in enumerate(ALPHA)
    )


def rosenbrock(x):
    return sum(100 * (x[i + 1] - x[i] ** 2) ** 2 + (1 - x[i]) ** 2 for i in range(len(x) - 1))


def ackley(x):
    spread = math.sqrt(sum(v * v for v in x) / len(x))
    waves = sum(math.cos(2 * math.pi * v) for v in x) / len(x)
    return -20 * math.exp(-0.2 * spread) - math.exp(waves) + 20 + math.e


def rastrigin(x):
    return sum(v * v - 10 * math.cos(2 * math.pi * v) + 10 for v in x)


def mixed(trial):
    kind = "abc".index(trial.suggest_categorical("type", ["a", "b", "c"]))
    n = trial.suggest_int("n", 50, 500)
    rate = trial.suggest_float("rate", 0.001, 0.3, log=True)
    off = math.log(n * rate / [8, 12, 16][kind])
    return [0, 0.03, 0.06][kind] + 0.25 * off * off + 0.05 * ((n - 300) / 250) ** 2


FUNCTIONS = {
    "sphere, 5-D": over_cube(5, -5, 5, lambda x: sum(v * v for v in x)),
    "Branin": over_cube(2, 0, 1, branin),
    "Hartmann-6": over_cube(6, 0, 1, hartmann),
    "Rosenbrock, 4-D": over_cube(4, -2, 2, rosenbrock),
    "Ackley, 5-D": over_cube(5, -32.8, 32.8, ackley),
    "Rastrigin, 5-D": over_cube(5, -5.12, 5.12, rastrigin),
    "mixed": mixed,
}


def best(function, sampler):
    study = optuna.create_study(sampler=sampler)
    study.optimize(function, n_trials=100)
    return study.best_value


def summary(values):
    draw = random.Random(1)
    medians = [statistics.median(draw.choices(values, k=len(values))) for _ in range(400)]
    return f"{statistics.median(values):.4g} +- {statistics.stdev(medians):.2g}"


studies = int(sys.argv[1])
for name in sys.argv[2:] or FUNCTIONS:
    tpe = [best(FUNCTIONS[name], optuna.samplers.TPESampler(seed=seed)) for seed in range(studies)]
    drawn = [best(FUNCTIONS[name], optuna.samplers.RandomSampler(seed=seed)) for seed in range(studies)]
    print(f"{name}: random {summary(drawn)}, TPE {summary(tpe)}", flush=True)
