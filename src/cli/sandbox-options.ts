/** Options of the commands that run programs. */

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
