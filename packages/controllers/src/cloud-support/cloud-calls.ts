/** Calls to the cloud's provider as effects of rules, with the types of the provider's parts. */
import type { CloudProvider } from '@gyropilot/cloud-provider'
import { untilAborted } from '@gyropilot/foundation'
import { callOutside } from '@gyropilot/runtime'
import type { Outcome, PerformOutside, Reconcile } from '@gyropilot/runtime'

type Parts = Required<
  Pick<CloudProvider, 'instancesV2' | 'instances' | 'zones' | 'loadBalancers' | 'routes'>
>
type PartName = keyof Parts
type Call<P extends PartName, M extends keyof Parts[P]> = Extract<
  Parts[P][M],
  (...all: never[]) => Promise<unknown>
>
type ArgumentsOf<C> = C extends (...all: [...infer A, AbortSignal]) => Promise<unknown> ? A : never
type AnswerOf<C> = C extends (...all: never[]) => Promise<infer A> ? A : never

/** Asks a part that the provider has. */
export function* askCloud<P extends PartName, M extends keyof Parts[P] & string>(
  part: P,
  method: M,
  ...callArguments: ArgumentsOf<Call<P, M>>
): Reconcile<Outcome<AnswerOf<Call<P, M>>>> {
  return yield* callOutside<AnswerOf<Call<P, M>>>(`${part}.${method}`, ...callArguments)
}

/** Performs such calls. A provider that does not hear the signal is not waited for when the process stops. */
export function cloudCalls(provider: CloudProvider): PerformOutside {
  return async ({ name, arguments: callArguments }, signal) => {
    const [part, method] = name.split('.') as [PartName, string]
    const methods = provider[part] as unknown as Record<string, (...all: unknown[]) => unknown>
    const answer = Promise.resolve(methods[method]!(...callArguments, signal))
    return await untilAborted(answer, signal)
  }
}
