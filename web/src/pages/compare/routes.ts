import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '../../routes.ts';
import { compareSearch } from './search.ts';

export const compareRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/compare',
    validateSearch: compareSearch,
    component: lazyRouteComponent(() => import('./compare-page.tsx'), 'ComparePage'),
  }),
] as const;
