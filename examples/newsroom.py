"""Six models on the generated newsroom corpus: a leaderboard, a story, and demo/report.html."""

from deplda.report import demo

if __name__ == "__main__":
    demo("demo")
