import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '../../routes.ts';
import { only, present, type Raw, text } from '../../ui/url.ts';

/** `from`: the backtest to fill the form from. */
function newSearch(raw: Raw) {
  return present({ from: text(raw.from), strategy: text(raw.strategy) });
}

export const newBacktestRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/backtests/new',
    validateSearch: only(newSearch),
    component: lazyRouteComponent(() => import('./new-page.tsx'), 'NewBacktestPage'),
  }),
] as const;
