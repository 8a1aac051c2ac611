import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '../../routes.ts';
import { only } from '../../ui/url.ts';
import { listSearch } from './search.ts';

export const backtestRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/backtests',
    validateSearch: only(listSearch),
    component: lazyRouteComponent(() => import('./list-page.tsx'), 'BacktestsPage'),
  }),
] as const;
