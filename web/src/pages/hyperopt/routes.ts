import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '../../routes.ts';
import { only } from '../../ui/url.ts';
import { detailSearch, listSearch, newSearch } from './search.ts';

export const hyperoptRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/hyperopt',
    validateSearch: only(listSearch),
    component: lazyRouteComponent(() => import('./list-page.tsx'), 'HyperoptListPage'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/hyperopt/new',
    validateSearch: only(newSearch),
    component: lazyRouteComponent(() => import('./new-page.tsx'), 'NewHyperoptPage'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/hyperopt/$id',
    validateSearch: only(detailSearch),
    component: lazyRouteComponent(() => import('./detail-page.tsx'), 'HyperoptPage'),
  }),
] as const;
