import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '../../routes.ts';
import { only } from '../../ui/url.ts';
import { readCatalogSearch, readModelSearch } from './search.ts';

export const strategyRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/strategies',
    validateSearch: only(readCatalogSearch),
    component: lazyRouteComponent(() => import('./catalog-page.tsx'), 'CatalogPage'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/strategies/$name',
    validateSearch: only(readModelSearch),
    component: lazyRouteComponent(() => import('./model-page.tsx'), 'ModelPage'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/strategies/$name/versions/$version',
    component: lazyRouteComponent(() => import('./version-page.tsx'), 'VersionPage'),
  }),
] as const;
