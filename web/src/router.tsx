import { createRouter } from '@tanstack/react-router';
import { backtestRoutes } from './pages/backtests/routes.ts';
import { dataRoutes } from './pages/data/routes.ts';
import { homeRoutes } from './pages/home/routes.ts';
import { hyperoptRoutes } from './pages/hyperopt/routes.ts';
import { newBacktestRoutes } from './pages/new-backtest/routes.ts';
import { reportRoutes } from './pages/report/routes.ts';
import { signInRoutes } from './pages/sign-in/routes.ts';
import { strategyRoutes } from './pages/strategies/routes.ts';
import { rootRoute } from './routes.ts';

/** Every page; each is loaded when it is opened. */
export const router = createRouter({
  routeTree: rootRoute.addChildren([
    ...homeRoutes,
    ...backtestRoutes,
    ...newBacktestRoutes,
    ...hyperoptRoutes,
    ...reportRoutes,
    ...dataRoutes,
    ...signInRoutes,
    ...strategyRoutes,
  ]),
  defaultPreload: 'intent',
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
