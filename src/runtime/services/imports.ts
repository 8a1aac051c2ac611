import {
  cancelImport,
  createImport,
  getImport,
  type ImportDeps,
  listImports,
  previewImport,
  startImport,
} from '#domain/imports/file-imports.ts';
import type { GroupHandlers } from '../handler.ts';

/** Handlers of the rows of imports of uploaded files. */
export function importHandlers(deps: ImportDeps): GroupHandlers<'imports'> {
  return {
    createImport: async ({ body }) => {
      const created = await createImport(deps, body);
      return { status: 201, body: created, headers: { Location: `imports/${created.import_id}` } };
    },
    listImports: async () => {
      const items = listImports(deps);
      return { status: 200, body: { items, count: items.length } };
    },
    getImport: async ({ params }) => ({ status: 200, body: getImport(deps, params.import_id) }),
    previewImport: async ({ params, body }) => ({
      status: 202,
      body: previewImport(deps, params.import_id, body),
    }),
    startImport: async ({ params, body }) => ({
      status: 202,
      body: startImport(deps, params.import_id, body),
    }),
    cancelImport: async ({ params }) => ({ status: 200, body: await cancelImport(deps, params.import_id) }),
  };
}
