import { resolve } from 'node:path'

/** Folder of third-party data outside the repository. */
export const SHARED: string = process.env['CRIA_SHARED'] ?? resolve(import.meta.dirname, '../../../shared')
