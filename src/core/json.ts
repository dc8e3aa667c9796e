/** Values that survive `JSON.stringify` and back unchanged. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject
/** An object that survives `JSON.stringify` and back; `undefined` members are left out. */
export interface JsonObject {
  readonly [key: string]: Json | undefined
}
