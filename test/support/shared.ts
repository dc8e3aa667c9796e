import { resolve } from 'node:path'

/** Where other people's data lies, outside of the repository. */
export const SHARED: string = process.env['CRIA_SHARED'] ?? resolve(import.meta.dirname, '../../../shared')
