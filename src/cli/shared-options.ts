/** Options that several commands take. */

/** Which store. */
export const STORE_OPTIONS = {
  store: { type: 'text', value: 'NAME', about: 'the store to search', default: 'default' },
  docs: {
    type: 'texts',
    value: 'PATH',
    about: 'files and folders to search: they are indexed into a store that is kept for these paths',
  },
} as const

/** How programs are run. */
export const SANDBOX_OPTIONS = {
  sandbox: {
    type: 'text',
    value: 'MODE',
    choices: ['auto', 'required', 'off'],
    about: 'confine commands where the system can (auto), refuse them where it cannot (required), or never (off)',
    default: 'auto',
  },
  network: { type: 'flag', about: 'let commands in the sandbox use the network; else those that a rule network(…) covers' },
} as const

/** Which models answer, and what they may cost. */
export const MODEL_OPTIONS = {
  model: {
    type: 'text',
    short: 'm',
    value: 'MODEL',
    about: 'provider/model, an alias, or main, quick, task, reasoning (see: cria models)',
  },
  fallback: { type: 'texts', value: 'MODEL', about: 'models to turn to when the first cannot answer, in this order' },
  'no-switch': { type: 'flag', about: 'answer with this model or not at all, whatever config.json says' },
  thinking: { type: 'flag', about: 'ask the model to reason first' },
} as const

/** How it is asked. */
export const TEMPLATE_OPTIONS = {
  system: { type: 'text', short: 's', value: 'TEXT', about: 'the system prompt: how to answer' },
  option: {
    type: 'texts',
    short: 'o',
    value: 'KEY=VALUE',
    about: 'a setting of the model: temperature, max-tokens, thinking, …',
  },
  template: { type: 'text', short: 't', value: 'NAME', about: 'ask with this template, or file (see: cria templates)' },
  param: { type: 'texts', short: 'p', value: 'KEY=VALUE', about: 'the value of a variable of the template' },
} as const

/** What is asked. */
export const PROMPT_OPTIONS = {
  attach: {
    type: 'texts',
    short: 'a',
    value: 'FILE',
    about: 'give the model a file, a URL or - (standard input): image, PDF or text',
  },
  session: { type: 'text', value: 'ID', about: 'go on with this session' },
  continue: { type: 'flag', short: 'c', about: 'go on with the last session, its model and its documents' },
} as const
