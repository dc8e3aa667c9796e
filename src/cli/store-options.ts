/** Options that `ask` and `retrieve` share: which store. */

export const STORE_OPTIONS = {
  store: { type: 'text', value: 'NAME', about: 'the store to search', default: 'default' },
  docs: {
    type: 'texts',
    value: 'PATH',
    about: 'files and folders to search: they are indexed into a store that is kept for these paths',
  },
} as const
