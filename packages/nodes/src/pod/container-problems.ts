/** Why a container cannot be made, whatever is in the cluster. Contract: docs/behaviour/simulation/kubelet.md, Container statuses. Pure. */
import type { Container, Pod } from '@gyropilot/api'
import { runsAsRoot } from '../behavior/usual-run.ts'
import { withValues } from '../container/variable-references.ts'

/** In a kubelet's words; undefined: it can. `environment` is asked for only where a mount's path is made of it. */
export async function containerProblem(
  pod: Pod,
  container: Container,
  environment: () => Promise<ReadonlyMap<string, string>>,
): Promise<string | undefined> {
  const paths = (container.volumeMounts ?? []).flatMap(({ subPathExpr }) => subPathExpr ?? [])
  if (paths.length > 0) {
    const known = await environment()
    for (const path of paths) {
      const problem = subPathProblem(path, (name) => known.get(name))
      if (problem !== undefined) return problem
    }
  }
  return userProblem(pod, container)
}

function subPathProblem(
  expression: string,
  valueOf: (name: string) => string | undefined,
): string | undefined {
  const missing: string[] = []
  const path = withValues(expression, (name) => {
    const value = valueOf(name)
    if (value === undefined) missing.push(name)
    return value
  })
  if (missing.length > 0) return `missing value for ${[...new Set(missing)].sort().join(', ')}`
  if (path.startsWith('/')) return `error SubPath \`${path}\` must not be an absolute path`
  if (path.split('/').includes('..'))
    return `unable to provision SubPath \`${path}\`: must not contain '..'`
  return undefined
}

function userProblem(pod: Pod, container: Container): string | undefined {
  const { runAsNonRoot, runAsUser } = { ...pod.spec?.securityContext, ...container.securityContext }
  if (runAsNonRoot !== true) return undefined
  const { name, namespace, uid } = pod.metadata ?? {}
  const where = `(pod: "${name}_${namespace}(${uid})", container: ${container.name})`
  if (runAsUser === 0) return `container's runAsUser breaks non-root policy ${where}`
  if (runAsUser === undefined && runsAsRoot(container.image ?? ''))
    return `container has runAsNonRoot and image will run as root ${where}`
  return undefined
}
