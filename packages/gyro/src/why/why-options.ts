/** What `gyro why` was asked for. Pure. */
import { gyroErrors } from '../errors.ts'
import { flagsOf, separated } from '../flags.ts'
import { whyFlags } from './why-flags.ts'

export interface WhyOptions {
  /** As written: a kind, a plural, a short name, perhaps with a group behind a dot. */
  readonly kind: string
  readonly name: string
  /** Empty: that of the context. */
  readonly namespace: string
  readonly kubeconfig: string
  readonly context: string
  readonly output: 'text' | 'json'
  readonly help: boolean
}

const USAGE = "name one object: 'gyro why KIND/NAME', as in gyro why namespace/team-a"

export function whyOptions(args: readonly string[]): WhyOptions {
  const { flags, words } = separated(args, whyFlags)
  const { values } = flagsOf(whyFlags, flags, 'gyro why', invalid)
  const help = values.get('help') as boolean
  const [kind, name] = help ? ['', ''] : kindAndName(words)
  return {
    kind,
    name,
    namespace: values.get('namespace') as string,
    kubeconfig: values.get('kubeconfig') as string,
    context: values.get('context') as string,
    output: values.get('output') as 'text' | 'json',
    help,
  }
}

function kindAndName(words: readonly string[]): readonly [string, string] {
  const parts = words.length === 1 ? words[0]!.split('/') : words
  const [kind = '', name = ''] = parts
  if (parts.length === 2 && kind !== '' && name !== '' && !/\//.test(kind + name))
    return [kind, name]
  throw invalid(words.length === 0 ? USAGE : `${JSON.stringify(words.join(' '))}: ${USAGE}`)
}

function invalid(message: string, cause?: unknown): Error {
  return gyroErrors.make('WHY_ARGUMENT_INVALID', message, { cause })
}
