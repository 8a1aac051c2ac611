type ImportModule = (address: string) => Promise<{ readonly default?: unknown }>;

let importer: ImportModule = (address) => import(address);

/** Imports a module by its absolute address. */
export const importModule: ImportModule = (address) => importer(address);

/** Sets what {@link importModule} calls: a program that runs as a script of `node:vm` cannot import modules itself. */
export function setImporter(other: ImportModule): void {
  importer = other;
}
