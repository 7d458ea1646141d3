import com.sun.source.util.JavacTask;
import java.util.List;
import java.util.Locale;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.ToolProvider;

/** Parses the files of its arguments and prints what is not Java. Names and types are not resolved. */
class Parse {
    public static void main(String[] paths) throws Exception {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        for (String path : paths) {
            var problems = new DiagnosticCollector<JavaFileObject>();
            var files = compiler.getStandardFileManager(problems, null, null).getJavaFileObjects(path);
            ((JavacTask) compiler.getTask(null, null, problems, List.of(), null, files)).parse();
            problems.getDiagnostics().forEach(problem -> System.out.println(
                    path + ": line " + problem.getLineNumber() + ": " + problem.getMessage(Locale.ROOT)));
        }
    }
}
