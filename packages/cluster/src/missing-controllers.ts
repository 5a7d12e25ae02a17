/** What kube-controller-manager runs and is not built here, so that people are told before something waits for it. */
import { controllers } from '@gyropilot/controllers'
import { TOKEN_CONTROLLER, knownControllers } from '@gyropilot/manager/controller-names'

/** Names of controllers that run by default there and are not among those built. `items` as of --controllers. */
export function missingControllers(
  items: readonly string[] = ['*'],
  built: Iterable<string> = controllers.map(({ name }) => name),
): readonly string[] {
  const known = new Set(built)
  return knownControllers
    .filter(({ name, cloud }) => cloud !== true && !known.has(name))
    .filter(
      ({ name, alias = name, enabledByDefault }) =>
        !items.some((item) => item === `-${name}` || item === `-${alias}`) &&
        (items.includes(name) ||
          items.includes(alias) ||
          (items.includes('*') && enabledByDefault) ||
          name === TOKEN_CONTROLLER),
    )
    .map(({ name }) => name)
}
