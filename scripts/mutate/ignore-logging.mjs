// A plug-in of Stryker: what is logged is for people, and no test should hold it.
import { PluginKind, declareValuePlugin } from '@stryker-mutator/api/plugin'

const LOGS = /^(this\.)?#?(\w+\.)*#?logger\b/

export const strykerPlugins = [
  declareValuePlugin(PluginKind.Ignore, 'logging', {
    shouldIgnore(path) {
      // With what decides on it: `if (...) logger.info(...)`.
      const logs = path.isIfStatement() && !path.node.alternate ? path.get('consequent') : path
      return logs.isExpressionStatement() && LOGS.test(logs.toString()) ? 'logging' : undefined
    },
  }),
]
