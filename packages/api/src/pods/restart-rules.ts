/** The rules by which single containers, or all of a pod, start again after an exit code. Pure. */

interface Ruled {
  readonly restartPolicyRules?:
    | readonly {
        readonly action?: string
        readonly exitCodes?:
          | { readonly operator?: string; readonly values?: readonly number[] | undefined }
          | undefined
      }[]
    | undefined
}

interface RuledPod {
  readonly initContainers?: readonly Ruled[] | undefined
  readonly containers?: readonly Ruled[] | undefined
}

export const RESTART_ALL_CONTAINERS = 'RestartAllContainers'

/** What the first of its rules that matches says. */
export function restartActionFor(
  { restartPolicyRules }: Ruled,
  exitCode: number,
): string | undefined {
  const rule = restartPolicyRules?.find(({ exitCodes }) => {
    const isListed = exitCodes?.values?.includes(exitCode) ?? false
    return exitCodes !== undefined && isListed === (exitCodes.operator === 'In')
  })
  return rule?.action
}

/** Whether a container that ended with this code may run or wait again: init containers too, what they do besides is left to the node. */
export function mayStartAgain(
  container: Ruled & { readonly restartPolicy?: string | undefined },
  podPolicy: string | undefined,
  exitCode: number,
): boolean {
  if (restartActionFor(container, exitCode) !== undefined) return true
  const policy = container.restartPolicy ?? podPolicy
  return policy === 'Always' || (policy === 'OnFailure' && exitCode !== 0)
}

/** Whether a rule of the pod could restart all of its containers. */
export function mayRestartAllContainers({
  initContainers = [],
  containers = [],
}: RuledPod): boolean {
  return [...initContainers, ...containers].some(({ restartPolicyRules = [] }) =>
    restartPolicyRules.some(({ action }) => action === RESTART_ALL_CONTAINERS),
  )
}
